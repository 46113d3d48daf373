//! One exchange from the request's head to the answer's: refused, or forwarded as it is, or when the engine says so.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version, header, request, response};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::service::Service;

use super::accept::Client;
use super::answer::{self, Fault};
use super::endpoint::Endpoint;
use super::exchange::{Exchange, Forward, Go, Head};
use super::headers;
use super::reading::Reading;
use super::relay::ClientBody;
use super::request::{PEEK_CAP, Peeked, ServerBody};
use super::server::ServerLeg;
use crate::engine::event::{AnswerHead, Destination, Event, RequestBody, RequestHead};

/// Serves the exchanges of one client's connection.
#[derive(Debug)]
pub(crate) struct Forwarding {
    client: Arc<Client>,
}

/// What the answer must know of its request.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) version: Version,
    /// The `Host` by which the client knows the proxy.
    pub(crate) host: Option<HeaderValue>,
    /// Where it went.
    pub(crate) to: Destination,
}

impl Asked {
    /// What a made answer must know: no name of the server's stands in it.
    fn of(parts: &request::Parts) -> Self {
        Self { method: parts.method.clone(), version: parts.version, host: None, to: Destination::default() }
    }
}

impl Forwarding {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client }
    }
}

impl Service<Request<Incoming>> for Forwarding {
    type Response = Response<ClientBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ClientBody>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let client = Arc::clone(&self.client);
        let reused = client.begin();
        if client.link.run().is_transparent() {
            Box::pin(async move { Ok(pass(client, request).await) })
        } else {
            Box::pin(async move { Ok(engage(client, request, reused).await) })
        }
    }
}

/// Passes an exchange through.
async fn pass(client: Arc<Client>, request: Request<Incoming>) -> Response<ClientBody> {
    let body = ClientBody::new(Arc::clone(&client), None);
    let (mut parts, incoming) = request.into_parts();
    if let Some(why) = refusal(&parts) {
        return refuse(&client, body, &parts, &Fault::BadRequest(why.to_owned())).await;
    }
    let asked = to_server(&mut parts, &client, Destination::default());
    let mut outgoing = ServerBody::streaming(incoming, &client.link);
    let leave = headers::expects_leave(&parts.headers).then(|| outgoing.hold(client.link.run().clock()));
    let request = Request::from_parts(parts, outgoing);
    answered(&client, body, &asked, ServerLeg::send(request, &client, asked.to, Arc::default(), leave)).await
}

/// Takes an exchange through as the engine commands.
async fn engage(client: Arc<Client>, request: Request<Incoming>, reused: bool) -> Response<ClientBody> {
    let (mut parts, incoming) = request.into_parts();
    let run = Arc::clone(client.link.run());
    if let Some(why) = refusal(&parts) {
        run.feed(Event::Refused { conn: client.id, method: Some(parts.method.to_string()), why: why.to_owned() });
        let body = ClientBody::new(Arc::clone(&client), None);
        return refuse(&client, body, &parts, &Fault::BadRequest(why.to_owned())).await;
    }
    let exchange = run.exchange();
    let mut body = ClientBody::new(Arc::clone(&client), Some(Arc::clone(&exchange)));
    run.feed(Event::RequestHead { exchange: exchange.id, conn: client.id, reused, head: request_head(&parts) });
    let mut outgoing = ServerBody::streaming(incoming, &client.link);
    let peeked = match read(&mut body, &mut outgoing, &parts.headers).await {
        Err(head) => return made(body, &Asked::of(&parts), head).await,
        Ok(Peeked::Whole) => RequestBody::Whole(outgoing.read()),
        Ok(Peeked::BeyondCap) => RequestBody::BeyondPeek(PEEK_CAP),
        Ok(Peeked::Broken(error)) => {
            body.disengage();
            return refuse(&client, body, &parts, &Fault::BadRequest(error.to_string())).await;
        }
    };
    run.feed(Event::Request { exchange: exchange.id, body: peeked });
    let go = match exchange.take_go() {
        Some(go) => go,
        // The server counts a kept connection as idle while a rule keeps the request: it would close it under it.
        None => {
            client.take_kept().for_each(drop);
            body.permit(Exchange::take_go).await
        }
    };
    let forward = match go {
        Go::Forward(forward) => forward,
        Go::Answer(head) => return made(body, &Asked::of(&parts), head).await,
    };
    let asked = to_server(&mut parts, &client, forward.to);
    headers::drop_expect(&mut parts.headers);
    let half = forward.part.is_some();
    apply(forward, &exchange, &mut parts.headers, &mut outgoing);
    let request = Request::from_parts(parts, outgoing);
    let server = ServerLeg::send(request, &client, asked.to, Arc::clone(&exchange.way), None);
    let server = if half { server.unfinished() } else { server };
    answered(&client, body, &asked, server).await
}

/// Waits for the engine's leave to read the request's body, and reads it.
///
/// A body that its client sends unasked is read while a rule holds the head: behind an unread body the client could leave
/// unseen. Nothing of it is used before the engine says so; one that breaks off is not waited for, since nothing else
/// would say that the client is gone.
///
/// # Errors
///
/// A rule answers the request without its body having been read: the head of that answer.
async fn read(body: &mut ClientBody, outgoing: &mut ServerBody, headers: &HeaderMap) -> Result<Peeked, Head> {
    let may = |exchange: &Exchange| exchange.take_made().map(Err).or_else(|| exchange.may_read().then_some(Ok(())));
    let mut leave = pin!(body.permit(may));
    if headers::expects_leave(headers) {
        leave.await?;
        return Ok(outgoing.peek().await);
    }
    let mut peek = pin!(outgoing.peek());
    tokio::select! {
        biased;
        left = &mut leave => {
            left?;
            Ok(peek.await)
        }
        peeked = &mut peek => {
            if !matches!(peeked, Peeked::Broken(_)) {
                leave.await?;
            }
            Ok(peeked)
        }
    }
}

/// Does to the request what the engine asked with its leave to send it.
fn apply(forward: Forward, exchange: &Arc<Exchange>, headers: &mut HeaderMap, body: &mut ServerBody) {
    body.report(forward.unit);
    forward.part.into_iter().for_each(|part| body.limit(part));
    if forward.identity {
        headers::ask_identity(headers);
    }
    if let Some(replacement) = forward.body {
        headers::change_length(headers, replacement.len());
        body.replace(replacement);
    }
    if forward.parted {
        body.part(exchange);
    }
    headers::edit(headers, &forward.headers);
}

/// Waits for the answer's head, and for leave to send it.
async fn answered(
    client: &Arc<Client>,
    mut body: ClientBody,
    asked: &Asked,
    server: ServerLeg,
) -> Response<ClientBody> {
    let run = client.link.run();
    body.reads(Reading::new(server));
    let (mut head, source) = match body.head().await {
        Ok(head) => head,
        Err(head) => return made(body, asked, head).await,
    };
    body.maps(Endpoint::awaited(asked, &head, run));
    if let Some(exchange) = body.exchange_id() {
        let head = AnswerHead { status: head.status.as_u16(), headers: headers::listed(&head.headers), source };
        run.feed(Event::Head { exchange, head });
    }
    let mut leave = body.head_permit().await;
    if let Some(head) = leave.take_if(|leave| leave.made.is_some()) {
        return made(body, asked, head).await;
    }
    headers::to_client(&mut head.headers, asked.host.as_ref(), &run.upstreams[asked.to.server]);
    if let Some(leave) = &leave {
        change(&mut head, leave);
    }
    body.seal(asked, head.status, &head.headers, leave).await;
    Response::from_parts(*head, body)
}

/// Does to the answer's head what the engine asked with its leave to send it.
fn change(head: &mut response::Parts, leave: &Head) {
    if leave.rechunk {
        headers::drop_length(&mut head.headers);
    }
    if let Some(status) = leave.edits.status.and_then(|status| StatusCode::from_u16(status).ok()) {
        head.status = status;
        // The server's own reason would be the reason of another status.
        head.extensions.remove::<ReasonPhrase>();
    }
    headers::edit(&mut head.headers, &leave.edits.headers);
}

/// Sends the head that a rule made; what the engine writes is the whole body.
async fn made(mut body: ClientBody, asked: &Asked, leave: Head) -> Response<ClientBody> {
    let mut head = Response::new(()).into_parts().0;
    if let Some(made) = &leave.made {
        head.status = StatusCode::from_u16(made.status).unwrap_or_default();
        head.headers = headers::of(&made.headers);
    }
    change(&mut head, &leave);
    body.seal(asked, head.status, &head.headers, Some(leave)).await;
    Response::from_parts(head, body)
}

/// Answers in the server's place, because the request cannot be forwarded.
async fn refuse(client: &Arc<Client>, body: ClientBody, parts: &request::Parts, fault: &Fault) -> Response<ClientBody> {
    answered(client, body, &Asked::of(parts), ServerLeg::made(answer::refuse(fault, None))).await
}

/// Makes the request's head fit for the server. Returns what the answer must know of it.
fn to_server(parts: &mut request::Parts, client: &Client, to: Destination) -> Asked {
    let run = client.link.run();
    let host = headers::to_server(&mut parts.headers, &run.hosts, &run.upstreams[to.server]);
    Asked { method: parts.method.clone(), version: parts.version, host, to }
}

/// Returns why a request cannot be forwarded: the proxy is a server's stand-in, not a client's gateway.
fn refusal(parts: &request::Parts) -> Option<&'static str> {
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    if parts.method == Method::CONNECT {
        Some("CONNECT is for gateways")
    } else if parts.uri.scheme().is_some() || parts.uri.authority().is_some() {
        Some("the target must be a path, not a URL")
    } else if hosts > 1 {
        Some("it has more than one Host")
    } else if hosts == 0 && parts.version == Version::HTTP_11 {
        Some("it has no Host")
    } else {
        None
    }
}

fn request_head(parts: &request::Parts) -> RequestHead {
    RequestHead {
        method: parts.method.as_str().to_owned(),
        target: parts.uri.to_string(),
        headers: headers::listed(&parts.headers),
    }
}
