//! Every client that the tables compare, each a driver of its own for all its cells.

use serde_json::json;

use super::Driver;

/// A client.
pub(crate) struct Client {
    /// Package and version, as a table names it.
    pub(crate) name: String,
    /// The process.
    pub(crate) driver: Driver,
    /// The names of all that a handler of a server's request can see beside the message.
    pub(crate) sees: &'static [&'static str],
    /// What tells the client which of its calls such a request belongs to.
    pub(crate) owner: Owner,
}

/// How a client can tell the owner of a server's request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Owner {
    /// Not by its SDK; by a `fetch` of its own that reads the SSE bytes.
    ByWrappedFetch,
    /// By its SDK, which hands it to the handler.
    BySdk,
    /// Not at all.
    Unknown,
}

/// The names of all clients, in the order of the tables' columns.
const CLIENTS: [&str; 8] = [
    "sdk 1.26.0",
    "sdk 1.29.0",
    "sdk 1.32.2",
    "client 2.0.0",
    "client 2.4.0",
    "python 1.26.0",
    "python 2.3.0",
    "rmcp 3.11.0",
];

/// All clients, in the order of the tables' columns.
pub(crate) fn clients() -> Vec<Client> {
    CLIENTS.into_iter().map(client).collect()
}

/// The client of that name: package and version.
pub(crate) fn client(name: &str) -> Client {
    match name.split_once(' ').unwrap() {
        ("sdk", version) => typescript("sdk", version, FIRST_SEES),
        ("client", version) => typescript("client", version, SECOND_SEES),
        ("python", version) if version.starts_with("1.") => python(version, PYTHON_FIRST_SEES),
        ("python", version) => python(version, PYTHON_SECOND_SEES),
        _ => rmcp(),
    }
}

fn typescript(package: &str, version: &str, sees: &'static [&'static str]) -> Client {
    let driver = Driver::node("client", version, &json!({}));
    Client { name: format!("{package} {version}"), driver, sees, owner: Owner::ByWrappedFetch }
}

fn python(version: &str, sees: &'static [&'static str]) -> Client {
    let driver = Driver::python("client", version, &json!({}));
    Client { name: format!("python {version}"), driver, sees, owner: Owner::Unknown }
}

fn rmcp() -> Client {
    Client {
        name: "rmcp 3.11.0".into(),
        driver: Driver::rmcp("client", &json!({})),
        sees: RMCP_SEES,
        owner: Owner::BySdk,
    }
}

const FIRST_SEES: &[&str] = &[
    "signal",
    "sessionId",
    "_meta",
    "sendNotification",
    "sendRequest",
    "authInfo",
    "requestId",
    "requestInfo",
    "taskId",
    "taskStore",
    "taskRequestedTtl",
    "closeSSEStream",
    "closeStandaloneSSEStream",
];

const SECOND_SEES: &[&str] = &[
    "sessionId",
    "mcpReq.id",
    "mcpReq.method",
    "mcpReq._meta",
    "mcpReq.requestState",
    "mcpReq.signal",
    "mcpReq.send",
    "mcpReq.notify",
    "http",
];

const PYTHON_FIRST_SEES: &[&str] = &[
    "close_sse_stream",
    "close_standalone_sse_stream",
    "experimental",
    "lifespan_context",
    "meta",
    "request",
    "request_id",
    "session",
];

const PYTHON_SECOND_SEES: &[&str] = &["meta", "request_id", "session"];

/// The origin is in the extensions.
const RMCP_SEES: &[&str] = &["ct", "id", "meta", "extensions", "peer"];
