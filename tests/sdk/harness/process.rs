//! A child process that ends with its owner, and its output, read line by line as it comes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use super::BOUND;

/// A child process; killed when dropped, if it still runs.
pub(crate) struct Process {
    child: Child,
}

impl Process {
    /// Starts `command` with all three streams piped.
    pub(crate) fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = piped.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        Self { child }
    }

    /// The child itself, for its pipes and its id.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when the child is gone already, which is what they are for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines read from a pipe, each made into a `T` as it comes, in order, all of them kept.
pub(crate) struct Lines<T> {
    state: Arc<(Mutex<State<T>>, Condvar)>,
}

struct State<T> {
    lines: Vec<T>,
    ended: bool,
}

impl<T: Clone + Send + 'static> Lines<T> {
    /// Reads `pipe` to its end in a thread of its own.
    pub(crate) fn of(pipe: impl Read + Send + 'static, parse: impl Fn(String) -> T + Send + 'static) -> Self {
        let state = Arc::new((Mutex::new(State { lines: Vec::new(), ended: false }), Condvar::new()));
        let written = Arc::clone(&state);
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines() {
                let Ok(line) = line else { break };
                update(&written, |state| state.lines.push(parse(line)));
            }
            update(&written, |state| state.ended = true);
        });
        Self { state }
    }

    /// All lines so far.
    pub(crate) fn so_far(&self) -> Vec<T> {
        self.state.0.lock().unwrap().lines.clone()
    }

    /// All lines, once the pipe has ended.
    ///
    /// # Panics
    ///
    /// When it has not ended in time.
    pub(crate) fn whole(&self) -> Vec<T> {
        self.until(|_, ended| ended.then_some(())).expect("the output did not end in time");
        self.so_far()
    }

    /// What `find` makes of the lines (and whether they have ended) as soon as it makes something; none when it has
    /// not by the bound, or the pipe has ended without it.
    pub(crate) fn until<F>(&self, mut find: impl FnMut(&[T], bool) -> Option<F>) -> Option<F> {
        let deadline = Instant::now() + BOUND;
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap();
        loop {
            if let Some(found) = find(&state.lines, state.ended) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.ended || left.is_zero() {
                return None;
            }
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

fn update<T>(state: &(Mutex<State<T>>, Condvar), change: impl FnOnce(&mut State<T>)) {
    change(&mut state.0.lock().unwrap());
    state.1.notify_all();
}
