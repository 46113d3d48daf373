//! The run as its connections share it: the engine behind its lock, and the way from an event to what is done about it.
//!
//! The one rule: commands are carried out under the engine's lock, in the order given, so that there is one sequence for
//! all streams. Carrying out means putting into a mailbox and waking; nothing here waits or touches a socket.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::Records;
use super::accept::Client;
use super::connection::Dial;
use super::ending::Cut;
use super::exchange::{Exchange, Finish, Forward, Head};
use super::headers::Hosts;
use super::posting::{self, Posts};
use super::timer::Clock;
use super::upstream::Upstream;
use crate::engine::engine::Engine;
use crate::engine::event::{Command, ConnId, Event, ExchangeId, Fate, Moment, UnitId};
use crate::engine::record::Summary;

/// So many turns of the scheduler without news mean that all has been told: what arrives is gathered for two.
const QUIET: usize = 8;
/// How many turns are waited for that at most: traffic may go on.
const SETTLING: usize = 1_000;

/// What all connections of a run share.
pub(crate) struct Run {
    this: Weak<Self>,
    core: Mutex<Core>,
    transparent: bool,
    mailboxes: Mutex<Mailboxes>,
    exchanges: AtomicU64,
    pub(crate) posts: Posts,
    /// How often the engine was told something.
    told: AtomicU64,
    clock: Clock,
    rearm: Notify,
    over: Notify,
    /// The servers; there is at least one.
    pub(crate) upstreams: Vec<Upstream>,
    pub(crate) dial: Dial,
    pub(crate) hosts: Hosts,
}

struct Core {
    engine: Engine,
    records: Box<dyn Records>,
    /// The moment for which the timer is set.
    armed: Option<Moment>,
    over: bool,
}

/// Wakes whoever keeps the time if it is dropped by a panic.
struct Alarm<'a>(&'a Notify);

#[derive(Default)]
struct Mailboxes {
    exchanges: BTreeMap<ExchangeId, Weak<Exchange>>,
    clients: BTreeMap<ConnId, Weak<Client>>,
}

impl Run {
    pub(crate) fn new(
        engine: Engine,
        records: Box<dyn Records>,
        clock: Clock,
        upstreams: Vec<Upstream>,
        dial: Dial,
        hosts: Hosts,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            transparent: engine.is_transparent(),
            core: Mutex::new(Core { engine, records, armed: None, over: false }),
            mailboxes: Mutex::default(),
            exchanges: AtomicU64::new(0),
            posts: Posts::default(),
            told: AtomicU64::new(0),
            clock,
            rearm: Notify::new(),
            over: Notify::new(),
            upstreams,
            dial,
            hosts,
        })
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Whether everything just passes and the engine need not be asked.
    pub(crate) fn is_transparent(&self) -> bool {
        self.transparent
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for those who end the run if the engine has panicked.
    fn sound_core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().expect("the engine has not panicked")
    }

    fn mailboxes(&self) -> MutexGuard<'_, Mailboxes> {
        self.mailboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // --- who is there

    /// Begins an exchange, numbered in order of arrival.
    pub(crate) fn exchange(self: &Arc<Self>) -> Arc<Exchange> {
        let id = ExchangeId(self.exchanges.fetch_add(1, Ordering::Relaxed));
        let exchange = Arc::new(Exchange::new(id, Arc::clone(self)));
        self.mailboxes().exchanges.insert(id, Arc::downgrade(&exchange));
        exchange
    }

    pub(crate) fn forget(&self, id: ExchangeId) {
        self.mailboxes().exchanges.remove(&id);
    }

    pub(crate) fn connect(&self, client: &Arc<Client>) {
        self.mailboxes().clients.insert(client.id, Arc::downgrade(client));
    }

    pub(crate) fn disconnect(&self, id: ConnId) {
        self.mailboxes().clients.remove(&id);
    }

    fn find(&self, id: ExchangeId) -> Option<Arc<Exchange>> {
        self.mailboxes().exchanges.get(&id).and_then(Weak::upgrade)
    }

    fn find_client(&self, id: ConnId) -> Option<Arc<Client>> {
        self.mailboxes().clients.get(&id).and_then(Weak::upgrade)
    }

    // --- events in, commands out

    /// Reports a unit whose last byte has left.
    pub(crate) fn passed(&self, unit: UnitId) {
        self.feed(Event::Passed { unit });
    }

    /// Tells the engine what arrived and carries out what it commands.
    pub(crate) fn feed(&self, event: Event) {
        let _alarm = Alarm(&self.rearm);
        self.told.fetch_add(1, Ordering::Relaxed);
        // After a panic the engine is not asked any more, and whoever keeps the time ends the run.
        let Ok(mut core) = self.core.lock() else { return };
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            if core.over {
                return;
            }
            let now = self.clock.now();
            for command in core.engine.on(now, event) {
                events.extend(self.carry_out(&core, command));
            }
        }
        let due = core.engine.next_due();
        if due.is_some() && (core.armed.is_none() || due < core.armed) {
            core.armed = due;
            self.rearm.notify_one();
        }
    }

    /// Carries a command out. Returns what happened at once because of it.
    fn carry_out(&self, core: &Core, command: Command) -> Option<Event> {
        match command {
            Command::Post { exchange: _, unit, server, head, body } => {
                posting::post(&self.this.upgrade()?, unit, server, (head, body));
            }
            Command::ClosePost { unit } => self.posts.close(unit),
            Command::Record(entry) => core.records.record(*entry),
            Command::Keep { hash, body } => core.records.keep(hash, &body),
            Command::Admit { conn } => self.find_client(conn)?.admit(),
            Command::CutConnection { conn, ending } => self.find_client(conn)?.cut(ending),
            Command::Read { exchange } => self.find(exchange)?.allow_read(),
            Command::Send { exchange, length, unit } => self.find(exchange)?.send(length, unit),
            Command::Relay { exchange } => self.find(exchange)?.relay(),
            Command::Forward { exchange, unit, to, identity, body, parted, headers, part } => {
                self.find(exchange)?.allow_forward(Forward { unit, to, identity, body, parted, headers, part });
            }
            Command::Head { exchange, unit, rechunk, edits, made } => {
                self.find(exchange)?.allow_head(Head { unit, rechunk, edits, made });
            }
            Command::Write { exchange, bytes, marks } => self.find(exchange)?.write(bytes, marks),
            Command::Finish { exchange, unit, ending, inside, settle } => match self.find(exchange) {
                Some(exchange) if !exchange.is_parted() => {
                    exchange.finish(Finish { unit, ending, inside, settle });
                }
                // An answer whose length was reached has ended for HTTP before the engine says so.
                _ => return Some(Event::Passed { unit }),
            },
            Command::PauseServer { exchange } => self.find(exchange)?.pause(),
            Command::ResumeServer { exchange } => self.find(exchange)?.resume(),
            Command::CloseServer { exchange, unit, fate } => return self.close_server(exchange, unit, fate),
        }
        None
    }

    fn close_server(&self, exchange: ExchangeId, unit: UnitId, fate: Fate) -> Option<Event> {
        let exchange = self.find(exchange);
        if let Some(exchange) = &exchange {
            exchange.decide(unit, fate);
        }
        let Some(link) = exchange.and_then(|exchange| exchange.way.link()) else {
            // It never reached the server, or the server is done with it.
            return Some(Event::Passed { unit });
        };
        let cut = matches!(fate, Fate::Close | Fate::Reset).then(|| Cut { unit: Some(unit), ..Cut::of(fate) });
        cut.and_then(|cut| link.cut(cut)).map(|unit| Event::Passed { unit })
    }

    // --- time and the end

    /// Feeds the passing of time whenever the engine wants it; never returns.
    ///
    /// # Panics
    ///
    /// If the engine has panicked, in whatever task: a run with a broken engine must not go on, nor be judged.
    pub(crate) async fn keep_time(&self) {
        loop {
            let armed = self.sound_core().armed;
            match armed {
                None => self.rearm.notified().await,
                Some(moment) => tokio::select! {
                    () = self.rearm.notified() => {}
                    () = self.clock.until(moment) => {
                        self.core().armed = None;
                        self.feed(Event::Tick);
                    }
                },
            }
        }
    }

    /// The command has ended: whatever its processes had open was closed with them.
    pub(crate) fn exited(&self) {
        if !self.transparent {
            self.feed(Event::Exit);
        }
    }

    /// Waits until what the sockets hold by now has been told: that a command behind the proxy has ended is known before
    /// its connections have been read to their ends.
    pub(crate) async fn settle(&self) {
        let (mut told, mut quiet) = (self.told.load(Ordering::Relaxed), 0);
        for _ in 0..SETTLING {
            tokio::task::yield_now().await;
            let now = self.told.load(Ordering::Relaxed);
            quiet = if now == told { quiet + 1 } else { 0 };
            told = now;
            if quiet == QUIET {
                return;
            }
        }
    }

    /// Ends the run for the engine: what still waits is recorded.
    pub(crate) fn finish(&self) -> Summary {
        if !self.transparent {
            self.feed(Event::Finish);
        }
        let mut core = self.sound_core();
        core.over = true;
        self.over.notify_waiters();
        core.engine.summary()
    }

    /// Waits until the run has ended.
    pub(crate) async fn ended(&self) {
        let ended = self.over.notified();
        if !self.core().over {
            ended.await;
        }
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.notify_one();
        }
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("upstreams", &self.upstreams).finish_non_exhaustive()
    }
}
