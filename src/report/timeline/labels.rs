//! The names of a journal's streams: as the verdict has them, with the session in front where there are several.

use std::collections::BTreeMap;

use crate::engine::record::PointEntry;
use crate::report::names::{self, Methods, exchange_stream};

/// The names of a journal's streams, by session and exchange key.
#[derive(Debug)]
pub(super) struct Labels {
    names: BTreeMap<String, String>,
}

impl Labels {
    /// Names every exchange among these points, which are in order of arrival. A request's head comes before it is known
    /// what its exchange is.
    pub(super) fn of(points: &[&PointEntry]) -> Self {
        let mut names = BTreeMap::new();
        let many = points.iter().filter_map(|point| point.session).any(|session| session > 1);
        let methods = methods(points);
        for point in points {
            let exchange = exchange_of(&point.key);
            if names.contains_key(exchange) || point.stream.is_none() || point.point == "request-head" {
                continue;
            }
            let session = point.session.filter(|_| many).map(|session| format!("s{session} ")).unwrap_or_default();
            names.insert(exchange.to_owned(), session + &exchange_stream(exchange, &methods));
        }
        Self { names }
    }

    /// The name of an exchange's stream; its key if it has none.
    pub(super) fn stream(&self, exchange: &str) -> String {
        self.names.get(exchange).cloned().unwrap_or_else(|| exchange.to_owned())
    }

    /// A point in words, `end of POST tools/call id 2`; text that is no known point's key is returned as it is.
    pub(super) fn point(&self, key: &str) -> String {
        match self.names.get(exchange_of(key)) {
            Some(name) => names::point_of(key, name),
            None => key.to_owned(),
        }
    }
}

/// The part of a point's key that names its exchange (session / exchange / point # ordinal).
pub(in crate::report) fn exchange_of(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(exchange, _)| exchange)
}

/// The method of the request that each POST carries.
fn methods(points: &[&PointEntry]) -> Methods {
    let requests = points.iter().filter(|point| point.point == "request" && point.maker.is_none());
    let carried = requests.filter_map(|point| {
        let method = point.rpc.iter().find(|rpc| rpc.kind == "request")?.method.clone()?;
        Some((exchange_of(&point.key).to_owned(), method))
    });
    carried.collect()
}
