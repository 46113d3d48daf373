//! A request that a rule sends, on a connection of its own: nobody waits for its answer, which is read to its end and thrown
//! away.
//!
//! The one rule: it lives no longer than the run.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::BodyExt;

use super::connection;
use super::ending::Cut;
use super::headers;
use super::request::ServerBody;
use super::run::Run;
use crate::engine::event::{Destination, Ending, Event, RequestHead, UnitId};

/// Sends it, in a task of its own.
pub(crate) fn post(run: &Arc<Run>, unit: UnitId, server: usize, request: (RequestHead, Bytes)) {
    // Outside a runtime (the run is being torn down) there is nobody to send it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    let run = Arc::clone(run);
    runtime.spawn(async move {
        tokio::select! {
            () = run.ended() => {}
            sent = exchange(&run, unit, server, request) => {
                if let Err(why) = sent {
                    run.feed(Event::Unsent { unit, why });
                }
            }
        }
    });
}

/// Sends it and reads its answer. An answer that breaks off is no failure: the request was written.
///
/// # Errors
///
/// Why it could not be written, in words.
async fn exchange(
    run: &Arc<Run>,
    unit: UnitId,
    server: usize,
    (head, body): (RequestHead, Bytes),
) -> Result<(), String> {
    let mut request = request(run, server, &head, body)?;
    let to = Destination { server, fresh: true };
    let mut connection = connection::connect(run, Weak::new(), to).await.map_err(|error| error.to_string())?;
    request.body_mut().report(unit);
    request.body_mut().sent_on(&connection.link);
    let mut answer = connection.sender.send_request(request).await.map_err(|error| error.to_string())?;
    while let Some(Ok(_)) = answer.frame().await {}
    connection.link.cut(Cut::at_once(Ending::Fin));
    Ok(())
}

/// The request as the server is to see it, mapped as any other.
fn request(run: &Run, server: usize, head: &RequestHead, body: Bytes) -> Result<Request<ServerBody>, String> {
    let method = Method::from_bytes(head.method.as_bytes()).map_err(|error| error.to_string())?;
    let uri: Uri = head.target.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
    let length = body.len();
    let mut request = Request::new(ServerBody::whole(body));
    (*request.method_mut(), *request.uri_mut()) = (method, uri);
    *request.headers_mut() = headers::of(&head.headers);
    headers::to_server(request.headers_mut(), &run.hosts, &run.upstreams[server]);
    headers::drop_expect(request.headers_mut());
    headers::change_length(request.headers_mut(), length);
    Ok(request)
}
