//! A request that a rule sends, on a connection of its own: nobody waits for its answer, which is read to its end and thrown
//! away, unless the engine has the connection closed before.
//!
//! The one rule: it lives no longer than the run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::BodyExt;
use tokio::sync::Notify;

use super::connection;
use super::ending::Cut;
use super::headers;
use super::link::Link;
use super::request::ServerBody;
use super::run::Run;
use crate::engine::event::{Destination, Ending, Event, RequestHead, UnitId};

/// The requests of rules that are under way, and how each is told to end.
#[derive(Debug, Default)]
pub(crate) struct Posts(Mutex<BTreeMap<UnitId, Arc<Notify>>>);

/// A connection that is closed with whoever uses it.
struct Closing(Arc<Link>);

impl Posts {
    fn all(&self) -> MutexGuard<'_, BTreeMap<UnitId, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, unit: UnitId) -> Arc<Notify> {
        Arc::clone(self.all().entry(unit).or_default())
    }

    fn end(&self, unit: UnitId) {
        self.all().remove(&unit);
    }

    /// Closes the connection of this one, if it is under way.
    pub(crate) fn close(&self, unit: UnitId) {
        if let Some(closing) = self.all().get(&unit) {
            closing.notify_one();
        }
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.cut(Cut::at_once(Ending::Fin));
    }
}

/// Sends it, in a task of its own.
pub(crate) fn post(run: &Arc<Run>, unit: UnitId, server: usize, request: (RequestHead, Bytes)) {
    // Outside a runtime (the run is being torn down) there is nobody to send it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    let (run, closing) = (Arc::clone(run), run.posts.begin(unit));
    runtime.spawn(async move {
        let sent = tokio::select! {
            () = run.ended() => return,
            () = closing.notified() => Err("what it was sent for is over".to_owned()),
            sent = exchange(&run, unit, server, request) => sent,
        };
        run.posts.end(unit);
        // Of one that was written the engine knows that it was.
        run.feed(match sent {
            Ok(()) => Event::Answered { unit },
            Err(why) => Event::Unsent { unit, why },
        });
    });
}

/// Sends it and reads its answer. An answer that breaks off is no failure: the request was written.
///
/// # Errors
///
/// Why it could not be written, in words.
async fn exchange(
    run: &Arc<Run>,
    unit: UnitId,
    server: usize,
    (head, body): (RequestHead, Bytes),
) -> Result<(), String> {
    let mut request = request(run, server, &head, body)?;
    let to = Destination { server, fresh: true };
    let mut connection = connection::connect(run, Weak::new(), to).await.map_err(|error| error.to_string())?;
    let _closing = Closing(Arc::clone(&connection.link));
    request.body_mut().report(unit);
    request.body_mut().sent_on(&connection.link);
    let mut answer = connection.sender.send_request(request).await.map_err(|error| error.to_string())?;
    while let Some(Ok(_)) = answer.frame().await {}
    Ok(())
}

/// The request as the server is to see it, mapped as any other.
fn request(run: &Run, server: usize, head: &RequestHead, body: Bytes) -> Result<Request<ServerBody>, String> {
    let method = Method::from_bytes(head.method.as_bytes()).map_err(|error| error.to_string())?;
    let uri: Uri = head.target.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
    let length = body.len();
    let mut request = Request::new(ServerBody::whole(body));
    (*request.method_mut(), *request.uri_mut()) = (method, uri);
    *request.headers_mut() = headers::of(&head.headers);
    headers::to_server(request.headers_mut(), &run.hosts, &run.upstreams[server]);
    headers::drop_expect(request.headers_mut());
    headers::change_length(request.headers_mut(), length);
    Ok(request)
}
