//! A program whose call is lost on the way, and which must be told so at once: `gives-up URL`.
//!
//! What comes back is of no interest, an answer or an error. That the caller's own timeout had to end the wait is the flaw.

use std::error::Error;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::ClientRequest;
use rmcp::service::{PeerRequestOptions, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{from_value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let client = ().serve(StreamableHttpClientTransport::from_uri(url)).await?;

    let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let call: ClientRequest = from_value(json!({ "method": "tools/call", "params": params }))?;
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(Duration::from_secs(60));
    match client.peer().send_request_with_option(call, options).await?.await_response().await {
        Err(ServiceError::Timeout { .. }) => Err("nobody told the caller that its answer is lost".into()),
        _ => Ok(()),
    }
}
