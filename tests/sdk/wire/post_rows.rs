//! Faults on the answer to a POST.

use super::row::{Differs, Row, Server};
use crate::cells::Ask;

const fn plain(what: &'static str, profiles: &'static [&'static str], measured: [&'static str; 5]) -> Row {
    Row { what, profiles, server: Server::Plain, ask: Ask::Echo, measured, differs: &[] }
}

const fn resumable(what: &'static str, profiles: &'static [&'static str], measured: [&'static str; 5]) -> Row {
    Row { what, profiles, server: Server::Resumable, ask: Ask::Notify(1), measured, differs: &[] }
}

const fn failing_resume(what: &'static str, profiles: &'static [&'static str]) -> Row {
    resumable(what, profiles, FAILED_RESUMES)
}

const PRIMED: &str = "post-stream-lost,where=id";

const FOLLOWS: &str = "An older version than the one that was measured: it has no guard of its own against redirects to \
                       another origin, and `fetch` follows them.";

const ALL_ANSWER: [&str; 5] = ["answered"; 5];
const ALL_WAIT: [&str; 5] = ["waited"; 5];
const OLD_ONES_WAIT: [&str; 5] = ["waited", "waited", "waited", "told `-32000`", "told"];
const PYTHON_CRASHES: [&str; 5] = ["told", "told", "crashed", "crashed", "told"];
const FIRST_PYTHON_CRASHES: [&str; 5] = ["told", "told", "crashed", "told", "told"];
const FAILED_RESUMES: [&str; 5] =
    ["waited, 2 resumes", "waited, 2 resumes", "waited, 2 resumes", "told, 2 resumes", "waited, resume repeated"];

pub(super) const ROWS: &[Row] = &[
    plain("SSE, clean end, no id", &["post-stream-lost"], OLD_ONES_WAIT),
    Row {
        ask: Ask::Notify(2),
        ..plain("SSE, clean end after 2 notifications, no id", &["post-stream-lost"], OLD_ONES_WAIT)
    },
    plain("SSE, clean end after half an event, no id", &["post-stream-lost,where=inside"], OLD_ONES_WAIT),
    plain(
        "SSE, RST, no id",
        &["post-stream-lost,ending=reset"],
        ["waited, `onerror`", "waited, `onerror`", "waited", "told", "told"],
    ),
    resumable("SSE, clean end after an id", &[PRIMED], ["resumed"; 5]),
    resumable("the same with `retry: 200`", &["profiles/retry-told.toml", PRIMED], ["resumed"; 5]),
    resumable(
        "the same, the resume answered 405",
        &[PRIMED, "profiles/answered.toml,stream=resume,with=405,times=99"],
        ["waited, 1 resume", "waited, 1 resume", "waited, 2 resumes", "told, 2 resumes", "told, 1 resume"],
    ),
    failing_resume(
        "the same, the resume answered 400",
        &[PRIMED, "profiles/answered.toml,stream=resume,with=400,times=99"],
    ),
    failing_resume(
        "the same, the resume answered 404",
        &[PRIMED, "profiles/answered.toml,stream=resume,with=404,times=99"],
    ),
    failing_resume(
        "the same, RST in place of the resume's head",
        &[PRIMED, "profiles/head-lost.toml,stream=resume,times=99"],
    ),
    resumable(
        "the same, the resume answered by an empty stream",
        &[PRIMED, "profiles/answered.toml,stream=resume,with={headers={content-type='text/event-stream'}},times=99"],
        [
            "waited, 1 resume, GET",
            "waited, 1 resume, GET",
            "waited, resume repeated",
            "waited, resume repeated",
            "waited, resume repeated",
        ],
    ),
    plain("headers, then silence", &["post-stream-stalls"], ALL_WAIT),
    plain("no headers, silence", &["profiles/head-lost.toml,ending=stall"], ALL_WAIT),
    plain("RST before the headers", &["profiles/head-lost.toml"], PYTHON_CRASHES),
    plain("FIN before the headers", &["profiles/head-lost.toml,ending=fin"], PYTHON_CRASHES),
    Row {
        server: Server::Json,
        ..plain(
            "JSON cut short",
            &["post-stream-lost,ending=fin,where=inside"],
            ["told", "told", "waited", "crashed", "told"],
        )
    },
    plain(
        "JSON with an empty body",
        &["profiles/answered.toml,with={headers={content-type='application/json'}}"],
        ["told", "told", "waited", "told `-32700`", "told"],
    ),
    plain(
        "202 in place of a reply",
        &["profiles/answered.toml,with=202"],
        ["waited", "waited", "waited", "told `-32600`", "waited"],
    ),
    plain(
        "404, once",
        &["profiles/answered.toml,with=404"],
        ["told", "told", "told `32600`", "told `-32600`", "restarted"],
    ),
    plain(
        "404, again in the new session",
        &["profiles/answered.toml,with=404,sessions=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]"],
        ["told", "told", "told `32600`", "told `-32600`", "told"],
    ),
    plain("400", &["profiles/answered.toml,with=400"], FIRST_PYTHON_CRASHES),
    plain("429", &["profiles/answered.toml,with=429"], FIRST_PYTHON_CRASHES),
    plain("500", &["profiles/answered.toml,with=500"], FIRST_PYTHON_CRASHES),
    plain("503", &["profiles/answered.toml,with=503"], FIRST_PYTHON_CRASHES),
    plain(
        "400 with a JSON-RPC error",
        &["profiles/answered.toml,with={status=400,error={code=-32099,message='no'}}"],
        ["told", "told", "crashed", "told `-32099`", "told `-32099`"],
    ),
    Row {
        differs: &[Differs {
            who: "python 1.",
            cell: "crashed",
            because: "As measured, the client follows with a GET. A real server refuses a second standalone GET with 409, and \
                      it is that status which ends the session.",
        }],
        ..plain(
            "302 to the same origin",
            &["profiles/answered.toml,with={status=302,headers={location='/mcp'}}"],
            ["told", "told", "waited", "told", "told"],
        )
    },
    plain(
        "307 to the same origin",
        &["profiles/answered.toml,with={status=307,headers={location='/mcp'}}"],
        ALL_ANSWER,
    ),
    Row {
        differs: &[
            Differs { who: "sdk 1.26.0", cell: "answered", because: FOLLOWS },
            Differs { who: "sdk 1.29.0", cell: "answered", because: FOLLOWS },
            Differs { who: "client 2.0.0", cell: "answered", because: FOLLOWS },
        ],
        ..plain(
            "307 to another origin",
            &["profiles/answered.toml,with={status=307,headers={location='{server}'}}"],
            ["told", "told", "answered", "told", "told"],
        )
    },
    plain(
        "the response twice",
        &["profiles/answered.toml,with={sse=[\
           {message={jsonrpc='2.0',id='${owner.id}',result={content=[]}}},\
           {message={jsonrpc='2.0',id='${owner.id}',result={content=[]}}}]}"],
        ["answered, `onerror`", "answered, `onerror`", "answered", "answered", "answered"],
    ),
    plain(
        "a response with another id",
        &["profiles/answered.toml,with={sse=[{message={jsonrpc='2.0',id=4711,result={content=[]}}}]}"],
        ["waited", "waited", "waited", "answered", "told"],
    ),
    plain(
        "a response with the id as a string",
        &["profiles/answered.toml,with={sse=[\
           {data='{\"jsonrpc\":\"2.0\",\"id\":\"${owner.id}\",\"result\":{\"content\":[]}}'}]}"],
        ALL_ANSWER,
    ),
    plain("the response on the GET stream", &["profiles/answer-moved.toml"], ALL_ANSWER),
    Row {
        ask: Ask::Meanwhile,
        ..plain(
            "a JSON-RPC error with an event id, then the end",
            &["profiles/answered.toml,params={'/name'='echo'},with={sse=[\
               {id='e1',message={jsonrpc='2.0',id='${owner.id}',error={code=-32099,message='no'}}}]}"],
            ["told `-32099`, resume", "told `-32099`", "told `-32099`", "told `-32099`", "told `-32099`"],
        )
    },
    plain(
        "an event with broken JSON, then the response",
        &["profiles/answered.toml,with={sse=[\
           {data='{broken'},{message={jsonrpc='2.0',id='${owner.id}',result={content=[]}}}]}"],
        ["answered, `onerror`", "answered, `onerror`", "answered", "told `-32700`", "answered"],
    ),
    plain(
        "the response in an event of another name",
        &["profiles/answered.toml,with={sse=[\
           {event='other',message={jsonrpc='2.0',id='${owner.id}',result={content=[]}}}]}"],
        OLD_ONES_WAIT,
    ),
    plain(
        "the response without its final blank line",
        &["profiles/answered.toml,with={headers={content-type='text/event-stream'},\
           body=\"data: {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":${owner.id},\\\"result\\\":{\\\"content\\\":[]}}\\n\"}"],
        OLD_ONES_WAIT,
    ),
    plain(
        "line ends that are CR alone",
        &["profiles/answered.toml,with={headers={content-type='text/event-stream'},\
           body=\"data: {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":${owner.id},\\\"result\\\":{\\\"content\\\":[]}}\\r\\r\"}"],
        ["waited", "waited", "answered", "answered", "answered"],
    ),
    plain(
        "a byte order mark before the response",
        &["profiles/answered.toml,with={headers={content-type='text/event-stream'},\
           body=\"\\uFEFFdata: {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":${owner.id},\\\"result\\\":{\\\"content\\\":[]}}\\n\\n\"}"],
        ["answered", "answered", "waited", "told", "answered"],
    ),
    plain(
        "the response, and the stream never closed",
        &["profiles/answered.toml,with={sse=[\
           {message={jsonrpc='2.0',id='${owner.id}',result={content=[]}}}],ending='stall'}"],
        ALL_ANSWER,
    ),
];
