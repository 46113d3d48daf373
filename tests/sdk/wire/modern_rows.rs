//! Faults on the answer to a POST in the era of 2026-07-28, which has neither sessions nor a GET.

use super::row::{Row, Server};
use crate::cells::Ask;

const fn modern(what: &'static str, profiles: &'static [&'static str], measured: [&'static str; 3]) -> Row {
    let [second, python, rmcp] = measured;
    let measured = ["", second, "", python, rmcp];
    Row { what, profiles, server: Server::Modern, ask: Ask::Echo, measured, differs: &[] }
}

const TYPESCRIPT_WAITS: [&str; 3] = ["waited", "told `-32000`", "told"];
const ALL_ANSWER: [&str; 3] = ["answered"; 3];

pub(super) const ROWS: &[Row] = &[
    modern("SSE, clean end", &["profiles/answered.toml,with={sse=[]}"], TYPESCRIPT_WAITS),
    modern(
        "SSE, RST",
        &["profiles/answered.toml,with={sse=[{comment='opened'}],ending='reset'}"],
        ["waited, `onerror`", "told", "told"],
    ),
    modern("headers, then silence", &["profiles/answered.toml,with={sse=[],ending='stall'}"], ["waited"; 3]),
    modern("no headers, silence", &["profiles/head-lost.toml,ending=stall"], ["waited"; 3]),
    modern("RST before the headers", &["profiles/head-lost.toml"], ["told", "crashed", "told"]),
    modern("FIN before the headers", &["profiles/head-lost.toml,ending=fin"], ["told", "crashed", "told"]),
    modern("JSON cut short", &["post-stream-lost,ending=fin,where=inside"], ["told", "crashed", "told"]),
    modern(
        "JSON with an empty body",
        &["profiles/answered.toml,with={headers={content-type='application/json'}}"],
        ["told", "told `-32700`", "told"],
    ),
    modern("202 in place of a reply", &["profiles/answered.toml,with=202"], ["waited", "told `-32600`", "waited"]),
    modern("404", &["profiles/answered.toml,with=404"], ["told", "told", "told"]),
    modern("503", &["profiles/answered.toml,with=503"], ["told", "told `-32603`", "told"]),
    modern(
        "400 with a JSON-RPC error",
        &["profiles/answered.toml,with={status=400,error={code=-32099,message='no'}}"],
        ["told", "told `-32099`", "told `-32099`"],
    ),
    modern(
        "the response twice",
        &["profiles/answered.toml,with={sse=[\
           {message={jsonrpc='2.0',id='${owner.id}',result={content=[],resultType='complete'}}},\
           {message={jsonrpc='2.0',id='${owner.id}',result={content=[],resultType='complete'}}}]}"],
        ["answered, `onerror`", "answered", "answered"],
    ),
    modern(
        "a response with another id",
        &["profiles/answered.toml,with={sse=[\
           {message={jsonrpc='2.0',id=4711,result={content=[],resultType='complete'}}}]}"],
        ["waited", "answered", "told"],
    ),
    modern(
        "the response in an event of another name",
        &["profiles/answered.toml,with={sse=[\
           {event='other',message={jsonrpc='2.0',id='${owner.id}',result={content=[],resultType='complete'}}}]}"],
        TYPESCRIPT_WAITS,
    ),
    modern(
        "the response, and the stream never closed",
        &["profiles/answered.toml,with={sse=[\
           {message={jsonrpc='2.0',id='${owner.id}',result={content=[],resultType='complete'}}}],ending='stall'}"],
        ALL_ANSWER,
    ),
];
