//! What is seen of a message, and what is not one.

use super::*;

fn one(text: &str) -> Message {
    let mut messages = peek(&Bytes::copy_from_slice(text.as_bytes()));
    assert_eq!(messages.len(), 1, "{text}");
    messages.remove(0)
}

#[test]
fn a_request_is_known_by_kind_id_method_name_and_token() {
    let call = one(
        r#" {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"t"}}}"#,
    );
    assert_eq!((call.kind, call.id), (Kind::Request, Some(Id::Number("2".into()))));
    assert_eq!((call.method.as_deref(), call.name.as_deref()), (Some("tools/call"), Some("echo")));
    assert_eq!(call.asks_progress, Some(Id::Text("t".into())));
}

#[test]
fn ids_keep_their_type() {
    assert_ne!(one(r#"{"id":1,"result":{}}"#).id, one(r#"{"id":"1","result":{}}"#).id);
    assert_eq!(one(r#"{"id":null,"error":{"code":-32700}}"#).id, None);
    assert_eq!(
        one(r#"{"id":12345678901234567890123,"result":{}}"#).id,
        Some(Id::Number("12345678901234567890123".into()))
    );
}

#[test]
fn an_answer_is_one_whatever_its_result_is() {
    assert_eq!(one(r#"{"id":1,"result":null}"#).kind, Kind::Response);
    let error = one(r#"{"id":1,"error":{"code":-32001,"message":"x"}}"#);
    assert_eq!((error.kind, error.code.as_deref()), (Kind::Error, Some("-32001")));
}

#[test]
fn a_cancel_and_a_progress_name_whom_they_are_about() {
    let cancel = one(r#"{"method":"notifications/cancelled","params":{"requestId":5,"reason":"user"}}"#);
    assert_eq!(cancel.cancels, Some(Id::Number("5".into())));
    let progress = one(r#"{"method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#);
    assert_eq!(progress.tells_progress, Some(Id::Number("2".into())));
}

#[test]
fn a_batch_has_as_many_messages_as_it_has() {
    assert_eq!(peek(&Bytes::from_static(br#"[{"id":1,"method":"ping"}, 3, {"method":"x"}]"#)).len(), 2);
}

#[test]
fn what_is_no_message_is_none() {
    for text in ["", "null", "3", "{}", "[]", "{\"id\":1}", "not json", "{\"method\":3}", "\u{1}", "[1"] {
        assert_eq!(peek(&Bytes::copy_from_slice(text.as_bytes())), [], "{text:?}");
    }
}

#[test]
fn a_pointer_finds_the_text_as_it_stands_and_of_a_name_that_is_there_twice_the_last() {
    for (json, at, found) in [
        (r#"{"a":1,"b":[1],"a": 2 }"#, "/a", Some("2")),
        (r#"{"a":7,"a":-7,"a":1e99,"a":"s","a":true,"a":null,"a":[],"a":{"b":1.50}}"#, "/a/b", Some("1.50")),
        (r#"{"a":{"b":1},"a":7}"#, "/a/b", None),
        (r#"{"\u0061":[{ "x" : -1e3 }]}"#, "/a/0", Some(r#"{ "x" : -1e3 }"#)),
        (r#"{"a":null}"#, "/a", Some("null")),
        (r#"{"a":[null,"s",true,1]}"#, "/a/1/x", None),
        ("[1,2]", "/1", Some("2")),
        ("[1,2] x", "/1", None),
        ("7", "", Some("7")),
        (r#"{"a":1,"b":}"#, "/a", None),
    ] {
        assert_eq!(pointer(json.as_bytes(), at).map(RawValue::get), found, "{json} {at}");
    }
}

#[test]
fn a_pointer_reaches_into_objects_and_arrays_and_unescapes() {
    let json = br#"{"a":{"b/c":[1,{"~":true}]},"s":"x"}"#;
    let text = |at: &str| pointer(json, at).and_then(text_of).map(Cow::into_owned);
    assert_eq!(text("/a/b~1c/0").as_deref(), Some("1"));
    assert_eq!(text("/a/b~1c/1/~0").as_deref(), Some("true"));
    assert_eq!(text("/s").as_deref(), Some("x"));
    assert_eq!((text("/a"), text("/no"), text("/a/b~1c/7")), (None, None, None));
}

// What is in a journal may be shown to others: only the form of a trace context gets there.
#[test]
fn a_trace_context_is_known_by_its_form() {
    let given = |text: &str| traceparent(format!(r#"{{"_meta":{{"traceparent":{text}}}}}"#).as_bytes());
    let right = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_eq!(given(&format!("\"{right}\"")).as_deref(), Some(right));
    for wrong in
        ["\"my password\"", "7", "null", &format!("\"{right}-00\""), &format!("\"{}\"", right.replace('0', "g"))]
    {
        assert_eq!(given(wrong), None, "{wrong}");
    }
    assert_eq!(traceparent(format!(r#"{{"traceparent":"{right}"}}"#).as_bytes()), None);
}
