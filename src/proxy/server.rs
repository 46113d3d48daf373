//! The server's leg of one exchange: the request on its way, then the answer as it arrives.
//!
//! It is one thing that can be polled, moved and dropped, whoever owns it: the service future, the answer's body, an
//! orphan. An answer that the proxy makes itself looks the same from outside. It never re-sends a request of which a byte
//! was written.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, response};
use hyper::body::{Body, Incoming};

use super::accept::Client;
use super::answer::{self, Fault};
use super::connection::{self, Connection};
use super::ending::Cut;
use super::informational;
use super::link::Link;
use super::request::{Leave, ServerBody};
use crate::engine::event::{Destination, Ending, Source};

/// What arrives on a server's leg, in order.
#[derive(Debug)]
pub(crate) enum Arrival {
    Head(Box<response::Parts>, Source),
    Data(Bytes),
    Trailers(HeaderMap),
    End(Ending),
}

/// The server's leg of one exchange.
pub(crate) struct ServerLeg {
    state: State,
    way: Arc<Way>,
    /// For whose next exchange the connection is kept.
    client: Option<Arc<Client>>,
    /// To be kept for the next exchange if this one ends well.
    connection: Option<Connection>,
    leave: Option<Arc<Leave>>,
}

enum State {
    Asking(Pin<Box<dyn Future<Output = Reply> + Send>>),
    Answering(Incoming),
    /// Known already: made by the proxy, or the rest of what arrived together.
    Known(VecDeque<Arrival>),
}

/// What came of sending the request.
enum Reply {
    Server(Box<Response<Incoming>>, Connection),
    Proxy(Response<Bytes>),
    Ended(Ending),
}

/// The leg that the request took, from the moment it is sent until the answer has ended.
#[derive(Debug, Default)]
pub(crate) struct Way(Mutex<Option<Arc<Link>>>);

// === ServerLeg ===

impl ServerLeg {
    /// Sends a request on the client's own connection to the server, or a fresh one.
    ///
    /// `leave`: the body is held back until the server has given it.
    pub(crate) fn send(
        mut request: Request<ServerBody>,
        client: &Arc<Client>,
        to: Destination,
        way: Arc<Way>,
        leave: Option<Arc<Leave>>,
    ) -> Self {
        informational::pass(&mut request, &client.link, leave.clone());
        let asking = ask(request, Arc::clone(client), to, Arc::clone(&way));
        Self { state: State::Asking(Box::pin(asking)), way, client: Some(Arc::clone(client)), connection: None, leave }
    }

    /// Its request is never sent to its end: the connection serves nobody after it.
    pub(crate) fn unfinished(self) -> Self {
        Self { leave: Some(Arc::default()), ..self }
    }

    /// An answer made by the proxy.
    pub(crate) fn made(response: Response<Bytes>) -> Self {
        Self {
            state: State::Known(answer::arrivals(response)),
            way: Arc::default(),
            client: None,
            connection: None,
            leave: None,
        }
    }

    /// Returns the next thing that arrives. Nothing comes after [`Arrival::End`].
    pub(crate) fn poll_arrival(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        loop {
            match &mut self.state {
                State::Known(known) => return known.pop_front().map_or(Poll::Pending, Poll::Ready),
                State::Asking(asking) => match ready!(asking.as_mut().poll(cx)) {
                    Reply::Server(response, connection) => {
                        let (head, body) = response.into_parts();
                        self.connection = Some(connection);
                        self.state = State::Answering(body);
                        return Poll::Ready(Arrival::Head(Box::new(head), Source::Server));
                    }
                    Reply::Proxy(response) => self.state = State::Known(answer::arrivals(response)),
                    Reply::Ended(ending) => self.state = State::Known([Arrival::End(ending)].into()),
                },
                State::Answering(body) if body.is_end_stream() => self.end(Ending::Eof),
                State::Answering(body) => match ready!(Pin::new(body).poll_frame(cx)) {
                    None => self.end(Ending::Eof),
                    Some(Err(error)) => {
                        let ending = self.way.ending(&error);
                        self.end(ending);
                    }
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => return Poll::Ready(Arrival::Data(data)),
                        Err(frame) => {
                            if let Ok(trailers) = frame.into_trailers() {
                                return Poll::Ready(Arrival::Trailers(trailers));
                            }
                        }
                    },
                },
            }
        }
    }

    /// The answer is over; a connection that ended it well serves the next exchange.
    fn end(&mut self, ending: Ending) {
        self.state = State::Known([Arrival::End(ending)].into());
        self.way.set(None);
        let (Some(connection), Ending::Eof) = (self.connection.take(), ending) else { return };
        if self.leave.as_ref().is_some_and(|leave| !leave.is_given()) {
            // The body was never sent and never will be: neither connection can carry another request.
            connection.link.cut(Cut::at_once(Ending::Fin));
        } else if let Some(client) = &self.client {
            client.keep(connection);
        }
    }

    /// The client goes on without it: what it will use next is another connection.
    pub(crate) fn disown(&mut self) {
        self.client = None;
    }

    /// Closes the leg as a client that leaves so would, unless it is over.
    pub(crate) fn leave(self, ending: Ending) {
        if let Some(link) = self.way.link() {
            link.cut(Cut::at_once(ending));
        }
    }
}

impl fmt::Debug for ServerLeg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerLeg").field("way", &self.way).finish_non_exhaustive()
    }
}

impl Way {
    fn set(&self, link: Option<Arc<Link>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = link;
    }

    pub(crate) fn link(&self) -> Option<Arc<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the server ended the leg, for HTTP's error: the wrapper saw it, the error may say less.
    fn ending(&self, error: &(dyn std::error::Error + 'static)) -> Ending {
        let seen = self.link().and_then(|link| link.gone());
        seen.unwrap_or_else(|| if is_reset(error) { Ending::Reset } else { Ending::Fin })
    }
}

/// Whether a connection reset is at the bottom of an error.
fn is_reset(error: &(dyn std::error::Error + 'static)) -> bool {
    sources(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::ConnectionReset)
}

fn sources<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

// === asking ===

/// Sends the request and waits for the head, on a fresh connection if the kept one is no good.
async fn ask(mut request: Request<ServerBody>, client: Arc<Client>, to: Destination, way: Arc<Way>) -> Reply {
    let run = Arc::clone(client.link.run());
    loop {
        let kept = if to.fresh { None } else { client.slots[to.server].ready().await };
        let mut connection = match kept {
            Some(kept) => kept,
            None => match connection::connect(&run, Arc::downgrade(&client), to).await {
                Ok(fresh) => fresh,
                Err(error) => {
                    let fault = Fault::Unreachable { upstream: run.upstreams[to.server].authority().to_owned(), error };
                    return Reply::Proxy(answer::refuse(&fault, request.into_body().id().await));
                }
            },
        };
        request.body_mut().sent_on(&connection.link);
        way.set(Some(Arc::clone(&connection.link)));
        match connection.sender.try_send_request(request).await {
            Ok(response) => return Reply::Server(Box::new(response), connection),
            Err(mut error) => match error.take_message() {
                // Nothing of it was written: the connection was stale.
                Some(unsent) => request = unsent,
                None => return failed(&way, &error.into_error()),
            },
        }
    }
}

/// What came instead of a head.
fn failed(way: &Way, error: &hyper::Error) -> Reply {
    if error.is_parse_too_large() {
        return Reply::Proxy(answer::refuse(&Fault::HeadTooLarge, None));
    }
    if error.is_parse() {
        return Reply::Proxy(answer::refuse(&Fault::BadAnswer(error.to_string()), None));
    }
    let spoiled = sources(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidInput);
    if error.is_user() && spoiled {
        return Reply::Proxy(answer::refuse(&Fault::BadRequest("the body's chunks are malformed".to_owned()), None));
    }
    Reply::Ended(way.ending(error))
}
