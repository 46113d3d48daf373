//! What the peers of a scripted exchange say, as bytes.

use super::super::script::Said;

/// A client's message.
pub(super) fn message(name: &str, request: &str) -> String {
    let (method, id) = request.split_once(' ').unwrap_or((request, ""));
    let client = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"1"}}"#;
    let params = match method {
        "initialize" => client.to_owned(),
        "tools/call" => {
            format!(r#"{{"name":"{name}","arguments":{{"tag":"{name}"}},"_meta":{{"progressToken":{id}}}}}"#)
        }
        "notifications/cancelled" => format!(r#"{{"requestId":{id}}}"#),
        "subscriptions/listen" => r#"{"notifications":{"toolsListChanged":true}}"#.to_owned(),
        _ => "{}".to_owned(),
    };
    match method {
        "answer" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept"}}}}"#),
        _ if method.starts_with("notifications/") => {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
        }
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
    }
}

impl Said {
    /// As the server sends it, in an event stream or as a JSON body.
    pub(super) fn text(&self, sse: bool) -> String {
        let id = self.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
        match self.word.as_str() {
            "priming" => format!("{id}data: \n\n"),
            "comment" => format!(": {}\n\n", self.value),
            "endpoint" => "event: endpoint\ndata: /messages?s=1\n\n".to_owned(),
            _ if sse => format!("event: message\n{id}data: {}\n\n", self.json()),
            "page" => self.value.clone(),
            _ => self.json(),
        }
    }

    fn json(&self) -> String {
        let value = &self.value;
        let filled =
            |of: usize, message: &dyn Fn(&str) -> String| message(&"x".repeat(of.saturating_sub(message("").len())));
        match self.word.as_str() {
            "answer" if self.size > 0 => {
                filled(self.size, &|text| format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{{"text":"{text}"}}}}"#))
            }
            "answer" => format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{{}}}}"#),
            "answers" => {
                let one = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
                format!("[{}]", value.split(' ').map(one).collect::<Vec<_>>().join(","))
            }
            "umlauts" => format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{{"text":"äöü €"}}}}"#),
            "error" => format!(r#"{{"jsonrpc":"2.0","id":{value},"error":{{"code":-32000,"message":"failed"}}}}"#),
            "note" => format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"n":{value}}}}}"#),
            "progress" => {
                let params = format!(r#"{{"progressToken":1,"progress":{value}}}"#);
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#)
            }
            "ask" => format!(r#"{{"jsonrpc":"2.0","id":{value},"method":"elicitation/create","params":{{}}}}"#),
            "roots" => format!(r#"{{"jsonrpc":"2.0","id":{value},"method":"roots/list"}}"#),
            "ack" => {
                let meta = format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{value}}}}}"#);
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{meta}}}"#)
            }
            word => panic!("no server says {word:?}"),
        }
    }
}
