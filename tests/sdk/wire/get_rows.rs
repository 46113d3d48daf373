//! Faults on the standalone GET and in the handshake.

use super::row::{Row, Server};
use crate::cells::Ask;

const fn get(what: &'static str, profiles: &'static [&'static str], measured: [&'static str; 5]) -> Row {
    Row { what, profiles, server: Server::Plain, ask: Ask::Meanwhile, measured, differs: &[] }
}

const fn handshake(what: &'static str, profiles: &'static [&'static str], measured: [&'static str; 5]) -> Row {
    Row { what, profiles, server: Server::Plain, ask: Ask::Connect, measured, differs: &[] }
}

const REFUSED: [&str; 5] = [
    "answered, 1 GET, `onerror`",
    "answered, 1 GET, `onerror`",
    "answered, 2 GETs",
    "answered, 2 GETs",
    "answered, 1 GET",
];

pub(super) const ROWS: &[Row] = &[
    get(
        "GET answered 405",
        &["profiles/answered.toml,stream=get,with=405,times=99"],
        ["answered, 1 GET", "answered, 1 GET", "answered, 2 GETs", "answered, 2 GETs", "answered, 1 GET"],
    ),
    get("GET answered 401", &["profiles/answered.toml,stream=get,with=401,times=99"], REFUSED),
    get("GET answered 404", &["profiles/answered.toml,stream=get,with=404,times=99"], REFUSED),
    get("GET answered 409", &["profiles/answered.toml,stream=get,with=409,times=99"], REFUSED),
    get("GET answered 429", &["profiles/answered.toml,stream=get,with=429,times=99"], REFUSED),
    get("GET answered 500", &["profiles/answered.toml,stream=get,with=500,times=99"], REFUSED),
    get("RST in place of the GET's head", &["profiles/head-lost.toml,stream=get,times=99"], REFUSED),
    get("GET ended cleanly each time", &["profiles/get-cut.toml"], ["answered, GET repeated"; 5]),
    get(
        "GET reset each time",
        &["profiles/get-cut.toml,ending=reset"],
        [
            "answered, GET repeated, `onerror`",
            "answered, GET repeated, `onerror`",
            "answered, 2 GETs",
            "answered, 2 GETs",
            "answered, GET storm",
        ],
    ),
    get(
        "GET answered 200 with application/json",
        &["profiles/answered.toml,stream=get,with={headers={content-type='application/json'},body='{}'},times=99"],
        [
            "answered, GET repeated",
            "answered, GET repeated",
            "answered, 2 GETs",
            "answered, 2 GETs",
            "answered, GET repeated",
        ],
    ),
    get("the GET's head 1.5 s late", &["profiles/get-head-late.toml"], ["answered, 1 GET"; 5]),
    handshake(
        "initialized answered 500",
        &["profiles/answered.toml,method=notifications/initialized,with=500"],
        ["refused", "refused", "told, then told", "answered", "refused"],
    ),
    handshake(
        "initialized answered 404",
        &["profiles/answered.toml,method=notifications/initialized,with=404"],
        ["refused", "refused", "answered", "answered", "refused"],
    ),
    handshake("initialized 2 s late", &["profiles/initialized-late.toml"], ["answered"; 5]),
];
