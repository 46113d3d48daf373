//! `mishap run`: the proxy in the foreground or around a command, from the words to the verdict.
//!
//! It reads in the order a run happens: plan, bind, journal, server, work, verdict. The one rule: whatever ends the run,
//! what it started is ended too, and the last line says with what status and why.

mod files;
mod interrupts;
mod kept;
mod many;
mod plan;
mod reports;
mod server;
mod setup;
mod told;
mod watching;
mod work;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Exit;
use crate::cli::RunArgs;
use crate::engine::record::Summary;
use crate::guard::Guard;
use crate::journal::{VerdictLine, queue};
use crate::monitor::Watched;
use crate::proxy::{Clock, Proxy, Stop};
use crate::report::runs::{Ran, Runs};
use crate::report::verdict::{Facts, Verdict, at_scale};
use crate::report::words::{count, shell};
use files::{Files, tell_github};
use interrupts::Interrupts;
use kept::Kept;
use plan::Plan;
pub(super) use plan::failure;
use server::Server;
use setup::{Recorder, config, header, reachable};
use told::Told;
use watching::Watching;
use work::{Behind, Ended, Limit, foreground};

/// How long what is asked to end may take until it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// Runs until it is told to end or its command ends, and prints the verdict to `err`; several times, if that is asked for.
///
/// # Errors
///
/// When `out` or `err` cannot be written, or the system gives no runtime.
pub fn run(args: &RunArgs, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(exit) = files::clash(args) {
        return Ok(exit);
    }
    if many::is_asked(args) {
        return many::run(args, out, err);
    }
    let plan = match Plan::of(args, err)? {
        Ok(plan) => plan,
        Err(exit) => return Ok(exit),
    };
    match Files::create(&args.many) {
        Ok(files) => end(files, &Runs::alone(once(&plan, &Interrupts::of(args)?, out, err)?), failure(args), err),
        Err(why) => Ok(plan.could_not(why)),
    }
}

/// One run.
fn once(plan: &Plan<'_>, interrupts: &Interrupts, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Ran> {
    if let Err(why) = told::clear(plan.args) {
        return Ok(plan.unjudged(header(plan, plan.args.listen, "{url}"), plan.could_not(why)));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ran = runtime.block_on(carry_out(plan, interrupts, out, err));
    // A name that is still being looked up must not hold up the end.
    runtime.shutdown_background();
    ran
}

/// Writes what was asked for, and ends with what the runs amount to; what cannot be written ends with `failure`, unless a command's
/// own status comes first.
fn end(files: Files, runs: &Runs, failure: u8, err: &mut dyn Write) -> io::Result<Exit> {
    let unwritten = files.write(runs);
    tell_github(runs, err)?;
    let status = runs.exit();
    match unwritten.first() {
        Some(why) if !runs.command_failed() => Ok(Exit::because(failure, why)),
        why => {
            why.map_or(Ok(()), |why| writeln!(err, "mishap: {why}"))?;
            Ok(Exit::because(status.code, status.why))
        }
    }
}

/// Everything of a run that must be ended in good order.
struct Running<'a> {
    plan: &'a Plan<'a>,
    interrupts: Interrupts,
    clock: Clock,
    recorder: Recorder,
    guard: Option<Guard>,
    address: SocketAddr,
    url: String,
}

async fn carry_out(
    plan: &Plan<'_>,
    interrupts: &Interrupts,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Ran> {
    let clock = Clock::system()?;
    let (sink, waiting) = queue();
    let mut kept = match Kept::bodies(plan) {
        Ok(kept) => kept,
        Err(why) => return Ok(plan.unjudged(header(plan, plan.args.listen, "{url}"), plan.could_not(why))),
    };
    let watching = plan.is_watched().then(|| Arc::new(Watching::new(plan.args.quiet_limit)));
    let recorder = Recorder { journal: plan.reports.journal().map(|_| sink), bodies: kept.shelf(), watching };
    let proxy = match Proxy::bind(config(plan, recorder.clone(), clock.clone())).await {
        Ok(proxy) => proxy,
        Err(error) => {
            return Ok(plan.unjudged(header(plan, plan.args.listen, "{url}"), plan.could_not(error.to_string())));
        }
    };
    let address = reachable(proxy.local_addr());
    let url = format!("http://{address}{}", plan.upstream.path());
    let header = header(plan, proxy.local_addr(), &url);
    let guard = match plan.starts_something().then(Guard::start).transpose() {
        Ok(guard) => guard,
        Err(error) => {
            let why = format!("the guard process cannot be started: {error}");
            return Ok(plan.unjudged(header, plan.could_not(why)));
        }
    };
    if let Err(why) = kept.begin(&header, waiting) {
        return Ok(plan.unjudged(header, plan.could_not(why)));
    }
    let (interrupting, recording) = (interrupts.clone(), recorder.clone());
    let running =
        Running { plan, interrupts: interrupting, clock: clock.clone(), recorder: recording, guard, address, url };
    let outcome = tokio::select! {
        outcome = running.serve(proxy, out, err) => outcome,
        never = recorder.keep_time(&clock) => match never {},
        signal = interrupts.nth(2) => {
            let code = u8::try_from(signal.as_raw()).unwrap_or(0).saturating_add(128);
            Ok(Err(Exit::because(code, "aborted by a second signal, without a verdict")))
        }
    };
    if let Some(guard) = running.guard {
        guard.end().await;
    }
    match outcome {
        Ok(Ok((mut summary, ended))) => {
            let watched = recorder.finish(&clock);
            watched.iter().for_each(|watched| recorder.expect(plan, watched, &mut summary));
            let facts = (summary, watched);
            Ok(plan.judged(header, judge(plan, facts, ended, kept, err)?))
        }
        failed => {
            let _ = kept.close(None);
            failed.map(|failed| plan.unjudged(header, failed.err().unwrap_or(Exit::DONE)))
        }
    }
}

impl Running<'_> {
    /// From a bound proxy to the end of the run. Dropping it ends what it started.
    async fn serve(
        &self,
        proxy: Proxy,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> io::Result<Result<(Summary, Ended), Exit>> {
        let _url = match self.tell("url-file", self.plan.args.url_file.as_deref()) {
            Ok(told) => told,
            Err(exit) => return Ok(Err(exit)),
        };
        let mut server = match self.server().await {
            Ok(server) => server,
            Err(exit) => return Ok(Err(exit)),
        };
        let _ready = match self.tell("ready-file", self.plan.args.ready_file.as_deref()) {
            Ok(told) => told,
            Err(exit) => {
                Server::stop_if_any(server).await;
                return Ok(Err(exit));
            }
        };
        self.announce(out, err)?;
        let (stop, stopped) = oneshot::channel();
        let work = async {
            let ended = self.work(server.as_mut(), err).await;
            let by_command = ended.as_ref().is_ok_and(|ended| ended.as_ref().is_ok_and(|it| it.command.is_some()));
            // The proxy may have ended by a failure of its own.
            let _ = stop.send(if by_command { Stop::Exit } else { Stop::Asked });
            ended
        };
        let until_stopped = async { stopped.await.unwrap_or(Stop::Asked) };
        let (summary, ended) = tokio::join!(proxy.serve(until_stopped), work);
        Server::stop_if_any(server).await;
        Ok(ended?.map(|ended| (summary, ended)))
    }

    /// Writes a file that tells where the proxy is, if one is asked for.
    fn tell(&self, option: &str, path: Option<&Path>) -> Result<Option<Told>, Exit> {
        let written = path.map(|path| Told::write(path, &self.url)).transpose();
        let shown = path.unwrap_or(Path::new("")).display();
        written.map_err(|error| self.plan.could_not(format!("--{option} {shown}: {error}")))
    }

    /// Starts the server, if that is asked for, and waits until it answers.
    async fn server(&self) -> Result<Option<Server>, Exit> {
        let (Some(command), Some(guard)) = (&self.plan.serve, &self.guard) else { return Ok(None) };
        let started = Server::start(command, guard, self.clock.clone()).await;
        let mut server = started.map_err(|error| self.plan.could_not(format!("--serve: {error}")))?;
        let ready = tokio::select! {
            ready = server.ready(&self.plan.upstream, self.plan.args.serve_timeout) => ready,
            _ = self.interrupts.nth(1) => Err("told to end before the server answered".to_owned()),
        };
        match ready {
            Ok(()) => Ok(Some(server)),
            Err(why) => {
                server.stop().await;
                Err(self.plan.could_not(why))
            }
        }
    }

    /// Says where the proxy is: as data in the foreground, else beside the command.
    fn announce(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
        let Plan { args, upstream, loaded, seed, .. } = self.plan;
        let rules = count(u64::try_from(loaded.rules.len()).unwrap_or(u64::MAX), "rule");
        writeln!(
            err,
            "mishap: {} in front of {upstream}, {rules}, seed {seed}{}",
            self.url,
            at_scale(args.time_scale)
        )?;
        if !args.command.is_empty() {
            return Ok(());
        }
        match writeln!(out, "{}", self.url).and_then(|()| out.flush()) {
            // Whoever read the line from a pipe may be gone; the proxy is still wanted.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(io::Error::new(error.kind(), format!("stdout: {error}")))
            }
            _ => writeln!(err, "mishap: Ctrl-C ends the run with its verdict"),
        }
    }

    async fn work(&self, server: Option<&mut Server>, err: &mut dyn Write) -> io::Result<Result<Ended, Exit>> {
        let command = self.plan.command(&self.url);
        let Some(guard) = self.guard.as_ref().filter(|_| !command.is_empty()) else {
            return Ok(Ok(foreground(&self.interrupts, server).await));
        };
        let env = [
            ("MISHAP_URL", self.url.clone()),
            ("MISHAP_PORT", self.address.port().to_string()),
            ("MISHAP_SEED", self.plan.seed.to_string()),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value)).into();
        let limit = Limit::new(self.plan.args.timeout, self.clock.clone(), self.recorder.clone());
        match Behind::start(command, env, guard).await {
            Ok(behind) => behind.ended(&self.interrupts, limit, server, err).await.map(Ok),
            Err(exit) => Ok(Err(exit)),
        }
    }
}

// === Verdict ===

fn judge(
    plan: &Plan<'_>,
    (summary, watched): (Summary, Option<Watched>),
    mut ended: Ended,
    kept: Kept<'_>,
    err: &mut dyn Write,
) -> io::Result<VerdictLine> {
    let Ended { command, ours, hung } = ended.clone();
    let facts = Facts {
        summary,
        command,
        ours,
        hung,
        seed: plan.seed,
        scale: plan.args.time_scale,
        eras: eras(plan),
        again: plan.again.clone(),
        recorded: plan.args.journal.as_ref().map(|path| shell([&*path.to_string_lossy()])),
        journal: None,
        reports: Vec::new(),
        doubts: plan.loaded.doubts.clone(),
        fail_on: plan.args.fail_on.clone(),
        among: plan.among.clone(),
        watched,
    };
    let told = kept.close(Some(Verdict::of(facts.clone()).line()));
    ended.ours.extend(told.failed);
    let (reports, failed) = plan.reports.write();
    ended.ours.extend(failed);
    let Ended { command, ours, hung: _ } = ended;
    let facts = Facts { command, ours, journal: told.there, reports, ..facts };
    let verdict = Verdict::of(facts);
    write!(err, "{verdict}")?;
    Ok(verdict.line())
}

/// The eras that each profile is for, by the beginning of its rules' names.
fn eras(plan: &Plan<'_>) -> BTreeMap<String, Vec<String>> {
    plan.loaded.sources.iter().map(|source| (source.name.clone(), source.era.clone())).collect()
}
