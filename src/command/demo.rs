//! `mishap demo`: the scenes in this process, or one of their peers alone.
//!
//! The one rule: 0 means that everything came out as promised, and a status of 1 says what did not.

use std::io::{self, Write};
use std::net::SocketAddr;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::unbounded_channel;

use super::Exit;
use crate::cli::{DemoArgs, DemoPart};
use crate::demo::programme::programme;
use crate::demo::scene::{Make, Scene};
use crate::demo::server::{self, Server};
use crate::demo::stage::{Cast, Take, play};

/// Shows the scenes, serves, or is the client.
///
/// # Errors
///
/// When `out` or `err` cannot be written, or the system gives no runtime.
pub fn run(args: &DemoArgs, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match &args.part {
        None => scenes(&runtime, args.scene, out),
        Some(DemoPart::Serve { listen, fixed }) => runtime.block_on(serve(*listen, make(*fixed), out, err)),
        Some(DemoPart::Client { url, scene, fixed }) => client(&runtime, url, *scene, make(*fixed), out),
    }
}

fn make(fixed: bool) -> Make {
    if fixed { Make::Fixed } else { Make::Faulty }
}

fn scenes(runtime: &Runtime, scene: Option<Scene>, out: &mut dyn Write) -> io::Result<Exit> {
    let mut broken = Vec::new();
    for scene in scene.map_or(Scene::ALL.to_vec(), |scene| vec![scene]) {
        let takes = match runtime.block_on(all_casts(scene)) {
            Ok(takes) => takes,
            Err(why) => return Ok(Exit::because(1, why)),
        };
        writeln!(out, "{}", programme(scene, &takes))?;
        out.flush()?;
        if !takes.iter().all(Take::as_promised) {
            broken.push(scene.name());
        }
    }
    match broken.as_slice() {
        [] => Ok(Exit::DONE),
        broken => Ok(Exit::because(1, format!("not as promised: {}", broken.join(", ")))),
    }
}

async fn all_casts(scene: Scene) -> Result<Vec<Take>, String> {
    let mut takes = Vec::new();
    for cast in Cast::ALL {
        takes.push(play(scene, cast).await.map_err(|why| why.to_string())?);
    }
    Ok(takes)
}

async fn serve(listen: SocketAddr, make: Make, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let (sender, mut notes) = unbounded_channel();
    let options = server::Options { listen, notes: Some(sender), ..make.server() };
    let mut server = match Server::bind(options).await {
        Ok(server) => server,
        Err(error) => return Ok(Exit::because(1, format!("cannot listen on {listen}: {error}"))),
    };
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    writeln!(err, "mishap: Ctrl-C ends the demo's server")?;
    loop {
        tokio::select! {
            Some(note) = notes.recv() => writeln!(err, "{note}")?,
            error = server.failed() => return Ok(Exit::because(1, format!("the server stopped: {error}"))),
            interrupted = tokio::signal::ctrl_c() => return interrupted.map(|()| Exit::DONE),
        }
    }
}

fn client(runtime: &Runtime, url: &str, scene: Scene, make: Make, out: &mut dyn Write) -> io::Result<Exit> {
    match runtime.block_on(scene.act(url, make)) {
        Ok(outcome) if outcome.passed => writeln!(out, "{}: {}", scene.name(), outcome.saw).map(|()| Exit::DONE),
        Ok(outcome) => Ok(Exit::because(1, format!("{}: {}", scene.name(), outcome.saw))),
        Err(failure) => Ok(Exit::because(1, failure.to_string())),
    }
}
