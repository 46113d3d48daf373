//! The client's answers to the server's questions.
//!
//! An answer names the call the client believes asked, so that a wrong belief shows in that call's own result.

use serde_json::{Value, json};

/// The answer to a question that the client takes to belong to the call with the tag `owner`.
pub(super) fn answer(question: &Value, owner: Option<&str>) -> Value {
    let said = owner.unwrap_or("nobody");
    let result = match question["method"].as_str().unwrap_or_default() {
        "elicitation/create" => json!({ "action": "accept", "content": { "answer": said } }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "content": { "type": "text", "text": said }, "model": "mishap-demo" })
        }
        "roots/list" => json!({ "roots": [{ "uri": "file:///demo", "name": said }] }),
        "ping" => json!({}),
        _ => {
            let error = json!({ "code": -32601, "message": "method not found" });
            return json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}
