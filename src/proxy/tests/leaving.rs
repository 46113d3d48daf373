//! What the records say of a client that leaves while its answer, or its server, has just ended.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::{GET, MINUTE, Rim, SSE, delayed, sees};
use crate::engine::engine::Setup;
use crate::engine::record::{Entry, PointEntry, PointFate};
use crate::engine::selector::At;

/// The points that were recorded so far.
fn points(entries: &mut mpsc::UnboundedReceiver<Entry>) -> Vec<PointEntry> {
    let point = |entry| if let Entry::Point(point) = entry { Some(point) } else { None };
    std::iter::from_fn(|| entries.try_recv().ok()).filter_map(point).collect()
}

fn fate_of(points: &[PointEntry], key: &str) -> Option<PointFate> {
    points.iter().find(|point| point.key.ends_with(key)).map(|point| point.fate)
}

/// How an answer is framed, what follows when HTTP has it, and which of its parts have a name.
struct Whole {
    framed: String,
    end: &'static str,
    parts: &'static [&'static str],
}

impl Whole {
    /// What became of the parts of an answer that HTTP was handed whole while its client had read one line: the client
    /// goes on reading after this time, or leaves. And whether a leave was seen.
    async fn fates(&self, leaves: bool, after: Duration, setup: &Setup) -> (Vec<PointFate>, bool) {
        let (mut rim, mut entries) = Rim::recorded(setup.clone());
        let mut client = rim.client(GET).await;
        let mut server = rim.server().await;
        sees(&mut server, GET).await;
        server.write_all(self.framed.as_bytes()).await.unwrap();
        sees(&mut client, "HTTP/1.1 200 OK\r\n").await;
        server.write_all(self.end.as_bytes()).await.unwrap();
        let clock = rim.run.clock();
        clock.after(after).await;
        if leaves {
            drop(client);
        } else {
            tokio::spawn(async move { while client.read(&mut [0; 4096]).await.is_ok_and(|n| n > 0) {} });
        }
        clock.after(2 * MINUTE).await;
        let points = points(&mut entries);
        let of = |part: &str| fate_of(&points, part);
        (self.parts.iter().filter_map(|part| of(part)).collect(), of("leave#1").is_some())
    }
}

// HTTP lets go of a body that it has whole: what it has not written then is lost with a client that leaves.
#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_before_the_last_bytes_of_a_whole_answer_has_left() {
    let message = format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{}"}}"#, "x".repeat(200 << 10));
    let with_length = |media: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n{message}", message.len())
    };
    let event = format!("data: {message}\n\n");
    let both: &[&str] = &["block#1", "end#1"];
    for whole in [
        Whole { framed: with_length("application/json"), end: "", parts: both },
        Whole { framed: format!("{SSE}{:x}\r\n{event}", event.len()), end: "\r\n0\r\n\r\n", parts: both },
        Whole { framed: with_length("text/plain"), end: "", parts: &["end#1"] },
    ] {
        for (setup, after) in [(Setup::default(), 1), (delayed(At::End), 90)] {
            for (leaves, fate) in [(true, PointFate::Gone), (false, PointFate::Passed)] {
                let seen = whole.fates(leaves, Duration::from_secs(after), &setup).await;
                assert_eq!(seen, (vec![fate; whole.parts.len()], leaves), "{:?} {after}", whole.parts);
            }
        }
    }
}

// Nobody else reports the close of a leg that has ended by itself: the leave would wait to the end of the run.
#[tokio::test(start_paused = true)]
async fn a_leave_passes_although_the_servers_leg_has_just_ended() {
    let (mut rim, mut entries) = Rim::recorded(Setup::default());
    let mut client = rim.client(GET).await;
    let mut server = rim.server().await;
    sees(&mut server, GET).await;
    server.write_all(SSE.as_bytes()).await.unwrap();
    sees(&mut client, SSE).await;
    // In one turn, so that the client's leg is over before anybody was told of the server's.
    drop(server);
    drop(client);
    rim.run.clock().after(MINUTE).await;
    let fates = points(&mut entries);
    assert_eq!(fate_of(&fates, "leave#1"), Some(PointFate::Passed));
    assert_eq!(fate_of(&fates, "end#1"), None);
}
