//! Which session a request is of (rule R9): by its id, by the address an `endpoint` block gave out, or by the client.
//!
//! The one rule it keeps: sessions are numbered in the order in which they began, and what one client does never
//! moves a request of another session.

use bytes::Bytes;

use super::bounded::Bounded;
use super::event::ExchangeId;

/// How many sessions are remembered.
const SESSIONS: usize = 4096;
/// The longest endpoint of 2024-11-05, and path of its stream, that is remembered, in bytes.
pub(super) const TARGET_LENGTH: usize = 4 * 1024;
/// How many keys of exchanges are counted in a session.
const KEYS: usize = 32 * 1024;

/// What tells one client from another where no session id does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Client {
    /// The address without the port.
    pub(super) address: String,
    /// A hash of its Authorization, 0 if there is none.
    pub(super) authorization: u64,
    /// The text of its clientInfo, where a request carries it.
    pub(super) info: Option<Bytes>,
}

impl Client {
    fn may_be(&self, other: &Self) -> bool {
        let infos_differ = self.info.is_some() && other.info.is_some() && self.info != other.info;
        self.address == other.address && self.authorization == other.authorization && !infos_differ
    }
}

/// How far a session has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// Nothing in it was answered 2xx: the next initialize of its client continues it.
    Not,
    /// An initialize is out.
    Asked(ExchangeId),
    /// It has.
    Yes,
}

/// One MCP session.
#[derive(Debug)]
pub(super) struct Session {
    /// Its session id, once the server gave one.
    pub(super) id: Option<Bytes>,
    /// Whether it was deleted, or its id answered 404.
    pub(super) ended: bool,
    /// Whether it was deleted.
    pub(super) deleted: bool,
    /// The server that its last request went to, from 0.
    pub(super) server: Option<usize>,
    client: Client,
    begun: Begun,
    /// How many exchanges there were.
    exchanges: u64,
    /// How often each key of an exchange was used.
    uses: Bounded<String, u64>,
}

/// The sessions of a run.
#[derive(Debug)]
pub(super) struct Sessions {
    known: Bounded<u64, Session>,
    by_id: Bounded<Bytes, u64>,
    by_endpoint: Bounded<String, u64>,
    /// Paths on which a stream gave out an endpoint.
    legacy: Bounded<String, ()>,
    count: u64,
    /// The uses of keys outside any session.
    stray: Session,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            known: Bounded::new(SESSIONS),
            by_id: Bounded::new(SESSIONS),
            by_endpoint: Bounded::new(SESSIONS),
            legacy: Bounded::new(SESSIONS),
            count: 0,
            stray: Session::new(Client::default()),
        }
    }
}

impl Session {
    fn new(client: Client) -> Self {
        Self {
            id: None,
            ended: false,
            deleted: false,
            server: None,
            client,
            begun: Begun::Not,
            exchanges: 0,
            uses: Bounded::new(KEYS),
        }
    }
}

impl Sessions {
    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn get(&self, ordinal: u64) -> Option<&Session> {
        self.known.get(&ordinal)
    }

    /// Whose it is.
    pub(super) fn client(&self, ordinal: u64) -> Option<&Client> {
        self.known.get(&ordinal).map(|session| &session.client)
    }

    /// The session of this id; an id that is not known yet begins one.
    pub(super) fn with_id(&mut self, id: &Bytes, client: Client) -> u64 {
        if let Some(ordinal) = self.by_id.get(id) {
            return *ordinal;
        }
        let ordinal = self.begin(client);
        self.name(ordinal, id);
        ordinal
    }

    /// The session whose `endpoint` block gave out this target.
    pub(super) fn at_endpoint(&self, target: &str) -> Option<u64> {
        self.by_endpoint.get(&target.to_owned()).copied()
    }

    /// The session that an initialize without a session id begins, or continues.
    pub(super) fn initialize(&mut self, exchange: ExchangeId, client: Client) -> u64 {
        let unbegun = |session: &Session| session.begun == Begun::Not;
        let ordinal = match self.latest(&client, unbegun) {
            Some(ordinal) => ordinal,
            None => self.begin(client.clone()),
        };
        if let Some(session) = self.known.get_mut(&ordinal) {
            session.begun = Begun::Asked(exchange);
            session.client = client;
        }
        ordinal
    }

    /// The session of a request without an id: its client is one session.
    pub(super) fn of_client(&mut self, client: Client) -> u64 {
        match self.latest(&client, |_| true) {
            Some(ordinal) => ordinal,
            None => self.begin(client),
        }
    }

    /// Begins a session of its own, as a 2024-11-05 stream does.
    pub(super) fn begin(&mut self, client: Client) -> u64 {
        self.count += 1;
        self.known.insert(self.count, Session::new(client));
        self.count
    }

    /// A head answered a request of this session; `id` is the session id it gave.
    pub(super) fn answered(&mut self, ordinal: u64, exchange: ExchangeId, status: u16, id: Option<&Bytes>) {
        let Some(session) = self.known.get_mut(&ordinal) else { return };
        if (200..300).contains(&status) {
            session.begun = Begun::Yes;
            if let Some(id) = id.filter(|_| session.id.is_none()) {
                self.name(ordinal, id);
            }
        } else {
            self.unanswered(ordinal, exchange);
        }
    }

    /// A request of this session went to this server.
    pub(super) fn went_to(&mut self, ordinal: u64, server: usize) {
        if let Some(session) = self.known.get_mut(&ordinal) {
            session.server = Some(server);
        }
    }

    /// An exchange is over; if it was an initialize without a good answer, the session has not begun.
    pub(super) fn unanswered(&mut self, ordinal: u64, exchange: ExchangeId) {
        if let Some(session) = self.known.get_mut(&ordinal)
            && session.begun == Begun::Asked(exchange)
        {
            session.begun = Begun::Not;
        }
    }

    /// A rule told the client another session id than the server gave, or none: by that it is known from now on.
    pub(super) fn rename(&mut self, ordinal: u64, id: Option<&Bytes>) {
        if let Some(id) = id {
            self.name(ordinal, id);
        } else if let Some(session) = self.known.get_mut(&ordinal) {
            session.id = None;
        }
    }

    /// A rule told the client that its initialize was refused.
    pub(super) fn unbegin(&mut self, ordinal: u64) {
        if let Some(session) = self.known.get_mut(&ordinal) {
            (session.begun, session.id) = (Begun::Not, None);
        }
    }

    pub(super) fn end(&mut self, ordinal: u64) {
        if let Some(session) = self.known.get_mut(&ordinal) {
            session.ended = true;
        }
    }

    pub(super) fn delete(&mut self, ordinal: u64) {
        self.end(ordinal);
        if let Some(session) = self.known.get_mut(&ordinal) {
            session.deleted = true;
        }
    }

    /// An `endpoint` block on a stream at `path` gave out this target for the posts of a session. Whether both are
    /// short enough to be remembered.
    pub(super) fn give_endpoint(&mut self, target: &str, path: &str, ordinal: u64) -> bool {
        if target.len() > TARGET_LENGTH || path.len() > TARGET_LENGTH {
            return false;
        }
        self.by_endpoint.insert(target.to_owned(), ordinal);
        self.legacy.insert(path.to_owned(), ());
        true
    }

    /// The target that was given out last for the posts of a session.
    pub(super) fn endpoint(&self, ordinal: u64) -> Option<&str> {
        self.by_endpoint.iter().rev().find(|(_, of)| **of == ordinal).map(|(target, _)| target.as_str())
    }

    /// Whether streams at this path are those of 2024-11-05.
    pub(super) fn is_legacy(&self, path: &str) -> bool {
        self.legacy.get(&path.to_owned()).is_some()
    }

    /// How often a key was used in a session, this time included.
    pub(super) fn use_key(&mut self, ordinal: u64, key: &str) -> u64 {
        let session = self.known.get_mut(&ordinal).unwrap_or(&mut self.stray);
        let uses = session.uses.entry(&key.to_owned(), || 0);
        *uses += 1;
        *uses
    }

    /// The number of an exchange in its session, before it has a key.
    pub(super) fn count_exchange(&mut self, ordinal: u64) -> u64 {
        let session = self.known.get_mut(&ordinal).unwrap_or(&mut self.stray);
        session.exchanges += 1;
        session.exchanges
    }

    fn name(&mut self, ordinal: u64, id: &Bytes) {
        if let Some(session) = self.known.get_mut(&ordinal) {
            session.id = Some(id.clone());
        }
        self.by_id.insert(id.clone(), ordinal);
    }

    fn latest(&self, client: &Client, fits: impl Fn(&Session) -> bool) -> Option<u64> {
        let of_client = |session: &Session| session.id.is_none() && !session.ended && session.client.may_be(client);
        self.known.iter().rev().find(|(_, session)| of_client(session) && fits(session)).map(|(ordinal, _)| *ordinal)
    }
}
