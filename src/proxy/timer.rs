//! The one clock of the rim: what time it is, and waiting until a moment.
//!
//! It is not `tokio::time`, which is about 1.1 ms late on every wait: the system clock is a thread of its own with an
//! exact timer. Its other make stands on tokio's time, for tests that pause it. The one rule: never early.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::engine::event::Moment;

/// Tells the time of a run and waits. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct Clock(Make);

#[derive(Debug, Clone)]
enum Make {
    System(Arc<System>),
    Tokio(tokio::time::Instant),
}

/// A wait that is over when its moment has come.
#[derive(Debug)]
pub struct Until(Wait);

#[derive(Debug)]
enum Wait {
    System { system: Arc<System>, key: Key, waits: bool },
    Tokio(Pin<Box<tokio::time::Sleep>>),
}

/// Ends the thread when the last clock and the last wait are gone.
#[derive(Debug)]
struct System {
    began: Instant,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waits: BTreeMap<Key, Waker>,
    numbered: u64,
    over: bool,
}

/// When, and the number of the wait, so that equal moments keep their order.
type Key = (Instant, u64);

// === Clock ===

impl Clock {
    /// Starts the run's time now, on a thread of its own that ends with the last clone.
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub fn system() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        std::thread::Builder::new().name("clock".to_owned()).spawn(move || of_thread.keep())?;
        Ok(Self(Make::System(Arc::new(System { began: Instant::now(), shared }))))
    }

    /// Starts the run's time now, on tokio's time, which a test can pause. Call it inside the runtime.
    #[must_use]
    pub fn tokio() -> Self {
        Self(Make::Tokio(tokio::time::Instant::now()))
    }

    /// Returns the time since the run began, in whole microseconds: to the engine it is what the journal has, so that a
    /// run can be repeated from there.
    #[must_use]
    pub fn now(&self) -> Moment {
        let elapsed = self.elapsed();
        Moment(elapsed - Duration::from_nanos(u64::from(elapsed.subsec_nanos() % 1_000)))
    }

    fn elapsed(&self) -> Duration {
        match &self.0 {
            Make::System(system) => system.began.elapsed(),
            Make::Tokio(began) => began.elapsed(),
        }
    }

    /// Waits until the moment has come; ready at once if it has passed.
    #[must_use]
    pub fn until(&self, moment: Moment) -> Until {
        Until(match &self.0 {
            Make::System(system) => {
                let key = (system.began + moment.0, system.shared.number());
                Wait::System { system: Arc::clone(system), key, waits: false }
            }
            Make::Tokio(began) => Wait::Tokio(Box::pin(tokio::time::sleep_until(*began + moment.0))),
        })
    }

    /// Waits for so long.
    #[must_use]
    pub fn after(&self, time: Duration) -> Until {
        self.until(Moment(self.elapsed() + time))
    }
}

// === Until ===

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Wait::Tokio(sleep) => sleep.as_mut().poll(cx),
            Wait::System { key, .. } if key.0 <= Instant::now() => Poll::Ready(()),
            Wait::System { system, key, waits } => {
                system.shared.wait(*key, cx.waker());
                *waits = true;
                Poll::Pending
            }
        }
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        if let Wait::System { system, key, waits: true } = &self.0 {
            system.shared.queue().waits.remove(key);
        }
    }
}

// === System and its thread ===

impl Drop for System {
    fn drop(&mut self) {
        self.shared.queue().over = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self) -> u64 {
        let mut queue = self.queue();
        queue.numbered += 1;
        queue.numbered
    }

    fn wait(&self, key: Key, waker: &Waker) {
        let mut queue = self.queue();
        let first = queue.waits.first_key_value().is_none_or(|(first, _)| key < *first);
        queue.waits.insert(key, waker.clone());
        drop(queue);
        if first {
            self.changed.notify_one();
        }
    }

    /// What the thread does: wakes whoever is due, sleeps until the next.
    fn keep(&self) {
        // The default slack of 50 us is the better half of how late a wait ends.
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut queue = self.queue();
        while !queue.over {
            let now = Instant::now();
            while let Some(entry) = queue.waits.first_entry().filter(|entry| entry.key().0 <= now) {
                entry.remove().wake();
            }
            queue = match queue.waits.first_key_value() {
                Some((key, _)) => {
                    let time = key.0.saturating_duration_since(now);
                    self.changed.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Moment {
        Moment(Duration::from_millis(n))
    }

    // A broken build would end a wait before its moment.
    #[tokio::test]
    async fn a_wait_is_never_early_and_equal_moments_keep_their_order() {
        let clock = Clock::system().unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = tokio::task::JoinSet::new();
        for (n, at) in [(0, 9), (1, 3), (2, 9), (3, 0)] {
            let (clock, order) = (clock.clone(), Arc::clone(&order));
            tasks.spawn(async move {
                clock.until(ms(at)).await;
                assert!(clock.now() >= ms(at));
                order.lock().unwrap().push(n);
            });
        }
        tasks.join_all().await;
        assert_eq!(*order.lock().unwrap(), [3, 1, 0, 2]);
    }

    // A broken build would let a wait end with another's: the thread sleeps for the first and wakes whoever is due.
    #[tokio::test]
    async fn of_many_waits_at_once_none_is_ever_early() {
        let clock = Clock::system().unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..400_u64 {
            let clock = clock.clone();
            // Spread over 12 ms and crowded together within a few microseconds, later ones before earlier ones.
            let micros = (n * 7_919) % 12_000 + n % 3;
            tasks.spawn(async move {
                let due = Moment(clock.now().0 + Duration::from_micros(micros));
                if n % 2 == 0 {
                    clock.until(due).await;
                } else {
                    clock.after(Duration::from_micros(micros)).await;
                }
                let now = clock.now();
                assert!(now >= due, "wait {n} of {micros} us: {now:?} is before {due:?}");
                // One that begins when another has just ended is no shorter.
                let due = Moment(now.0 + Duration::from_micros(n % 97));
                clock.until(due).await;
                assert!(clock.now() >= due);
            });
        }
        assert_eq!(tasks.join_all().await.len(), 400);
    }

    // A broken build would keep a wait that nobody awaits, and its waker.
    #[tokio::test]
    async fn a_dropped_wait_leaves_the_queue() {
        let clock = Clock::system().unwrap();
        let Make::System(system) = &clock.0 else { unreachable!() };
        let mut wait = Box::pin(clock.until(ms(60_000)));
        std::future::poll_fn(|cx| {
            assert!(wait.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        assert_eq!(system.shared.queue().waits.len(), 1);
        drop(wait);
        assert_eq!(system.shared.queue().waits.len(), 0);
    }

    // A broken build would mix the two clocks: real time would pass here.
    #[tokio::test(start_paused = true)]
    async fn tokio_time_can_be_paused() {
        let clock = Clock::tokio();
        clock.until(ms(3_600_000)).await;
        assert_eq!(clock.now(), ms(3_600_000));
    }
}
