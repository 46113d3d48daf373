//! The names of streams in a timeline: `POST 2 tools/call`, `GET`, `resume of POST 2`, numbered in order of arrival.

use std::collections::BTreeMap;

use crate::engine::record::PointEntry;

/// The names of a journal's streams, by session and exchange key.
#[derive(Debug)]
pub(super) struct Labels {
    names: BTreeMap<String, String>,
}

impl Labels {
    /// Names every exchange among these points, which are in order of arrival. A request's head comes before it is known
    /// what its exchange is.
    pub(super) fn of(points: &[&PointEntry]) -> Self {
        let mut numbers: BTreeMap<(Option<u64>, &str), u64> = BTreeMap::new();
        let mut short: BTreeMap<String, String> = BTreeMap::new();
        let mut names = BTreeMap::new();
        let many = points.iter().filter_map(|point| point.session).any(|session| session > 1);
        let methods = methods(points);
        for point in points {
            let (exchange, Some(stream)) = (exchange_of(&point.key), point.stream.as_deref()) else { continue };
            if short.contains_key(exchange) || point.point == "request-head" {
                continue;
            }
            let number = numbers.entry((point.session, stream)).or_default();
            *number += 1;
            let name = name(stream, *number, origin(exchange, &short));
            short.insert(exchange.to_owned(), name.clone());
            let session = point.session.filter(|_| many).map(|session| format!("s{session} ")).unwrap_or_default();
            let method = methods.get(exchange).map(|method| format!(" {method}")).unwrap_or_default();
            names.insert(exchange.to_owned(), format!("{session}{name}{method}"));
        }
        Self { names }
    }

    /// The name of an exchange's stream; its key if it has none.
    pub(super) fn stream(&self, exchange: &str) -> String {
        self.names.get(exchange).cloned().unwrap_or_else(|| exchange.to_owned())
    }

    /// A point in words, `end of POST 2 tools/call`; text that is no known point's key is returned as it is.
    pub(super) fn point(&self, key: &str) -> String {
        let exchange = exchange_of(key);
        match (self.names.get(exchange), key.get(exchange.len() + 1..)) {
            (Some(name), Some(point)) => {
                let kind = point.split('#').next().unwrap_or(point);
                format!("{kind} of {name}")
            }
            _ => key.to_owned(),
        }
    }
}

/// The part of a point's key that names its exchange (session / exchange / point # ordinal).
pub(super) fn exchange_of(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(exchange, _)| exchange)
}

fn name(stream: &str, number: u64, origin: Option<&str>) -> String {
    let nth = if number == 1 { String::new() } else { format!(" {number}") };
    match (stream, origin) {
        ("post", _) => format!("POST {number}"),
        ("get", _) => format!("GET{nth}"),
        ("delete", _) => format!("DELETE{nth}"),
        ("resume", Some(origin)) => format!("resume of {origin}"),
        (other, _) => format!("{other}{nth}"),
    }
}

/// Whose stream a resume continues: its key holds that stream's key.
fn origin<'a>(exchange: &str, short: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let (session, own) = exchange.split_once('/')?;
    let (_, continued) = own.strip_prefix("resume:")?.split_once('(')?;
    short.get(&format!("{session}/{}", continued.strip_suffix(')')?)).map(String::as_str)
}

/// The method that each POST carries, without the part that all notifications share; `answer` for a client's answer.
fn methods<'a>(points: &[&'a PointEntry]) -> BTreeMap<&'a str, &'a str> {
    let requests = points.iter().filter(|point| point.point == "request" && point.stream.as_deref() == Some("post"));
    let carried = requests.filter_map(|point| {
        let rpc = point.rpc.first()?;
        let method = match rpc.kind.as_str() {
            "response" | "error" => "answer",
            _ => rpc.method.as_deref()?.trim_start_matches("notifications/"),
        };
        Some((exchange_of(&point.key), method))
    });
    carried.collect()
}
