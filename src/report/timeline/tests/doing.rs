//! What rules rewrote, made, sent elsewhere and kept, as rows.

use super::*;

#[test]
fn what_a_rule_rewrote_says_what_of_it_and_how_much() {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| {
        point.rpc = rpc("request", "tools/call", Some("1"));
        point.made_headers = vec![("mcp-session-id".to_owned(), None)];
        point.rules = vec!["p/strip".to_owned()];
    });
    story.fired("p/strip", "s1/post:1/request#1", "rewrite");
    story.point("s1/post:1/head#1", "post", |point| {
        (point.status, point.made_status) = (Some(200), Some(401));
        point.made_headers = vec![("www-authenticate".to_owned(), Some("Bearer".to_owned()))];
        point.rules = vec!["p/strip".to_owned()];
    });
    story.fired("p/strip", "s1/post:1/head#1", "rewrite");
    story.point("s1/post:1/block#1", "post", |point| {
        (point.size, point.bytes) = (Some(40), 52);
        point.rules = vec!["p/strip".to_owned()];
    });
    story.fired("p/strip", "s1/post:1/block#1", "rewrite");
    let rows: Vec<String> = story.rows().iter().map(|row| row.chars().skip(32).collect()).collect();
    let expected = [
        "│──────▶│──────▶│  request tools/call id 1, mcp-session-id removed",
        "│       │       │  ! strip: rewrite",
        "│◀──────│◀──────│  200, made 401, www-authenticate set",
        "│       │       │  ! strip: rewrite",
        "│◀──────│◀──────│  #1 block",
        "│       │       │  ! strip: rewrite, 40 bytes made 52",
    ];
    assert_eq!(rows[..6], expected, "{rows:#?}");
}

#[test]
fn what_a_rule_made_comes_from_the_proxy_and_says_of_which_rule_and_what_it_is() {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| point.rules = vec!["p/busy".to_owned()]);
    story.fired("p/busy", "s1/post:1/request#1", "respond");
    story.point("s1/post:1/head#1", "post", |point| {
        (point.status, point.maker) = (Some(429), Some("p/busy".to_owned()));
    });
    for (rule, what) in [("p/noise", "inject"), ("p/twice", "duplicate")] {
        let key = format!("s1/get:1/block#{}", story.seq);
        story.point(&key, "get", |point| point.maker = Some(rule.to_owned()));
        story.fired(rule, "s1/get:1/head#1", what);
    }
    let rows: Vec<String> = story.rows().iter().map(|row| row.chars().skip(32).collect()).collect();
    let expected = [
        "│◀──────+       │  429",
        "│       │       │  ! busy: in the server's place",
        "│◀──────+       │  #2 block",
        "│       │       │  ! noise: added by the rule",
        "│◀──────+       │  #3 block",
        "│       │       │  ! twice: the same again",
    ];
    assert_eq!(rows[2..8], expected, "{rows:#?}");
}

/// A block that arrived third and left fifth, behind what was added before it; and one that what was added follows.
#[test]
fn what_a_rule_made_is_drawn_where_it_left() {
    let rows = |[made, block]: [u64; 2]| {
        let mut story = Story::default();
        story.point("s1/get:1/head#1", "get", |point| point.status = Some(200));
        story.point("s1/get:1/block#1", "get", |point| {
            (point.left_seq, point.left) = (Some(block), Some(block * 1_000));
        });
        story.point("s1/get:1/block#2", "get", |point| {
            (point.left_seq, point.left, point.maker) = (Some(made), Some(made * 1_000), Some("p/noise".to_owned()));
        });
        story.fired("p/noise", "s1/get:1/head#1", "inject");
        let drawn: Vec<String> = story.rows().iter().map(|row| row.chars().skip(32).collect()).collect();
        drawn.into_iter().skip(1).filter(|row| row.contains('#')).collect::<Vec<_>>()
    };
    let before = ["│       │◀──────│  #1 block", "│◀──────+       │  #2 block", "│◀──────│       │  #1 block"];
    assert_eq!(rows([4, 5]), before);
    assert_eq!(rows([5, 4]), ["│◀──────│◀──────│  #1 block", "│◀──────+       │  #2 block"]);
}

#[test]
fn what_is_kept_for_a_resume_says_so_and_the_resume_brings_it() {
    let mut story = Story::default();
    story.point("s1/post:1/head#1", "post", |point| point.rules = vec!["p/own".to_owned()]);
    story.fired("p/own", "s1/post:1/head#1", "resumable");
    story.point("s1/post:1/block#1", "post", |point| {
        (point.fate, point.left, point.left_seq) = (PointFate::Cut, None, None);
        point.rules = vec!["p/own".to_owned()];
    });
    story.point("s1/resume:1(post:1)/block#1", "resume", |point| point.maker = Some("p/own".to_owned()));
    let rows: Vec<String> = story.rows().iter().map(|row| row.chars().skip(32).collect()).collect();
    let expected = [
        "│       ✗◀──────│  #1 block",
        "│       │       │  ! own: kept for a resume",
        "│◀──────+       │  #1 block",
        "│       │       │  ! own: from what was kept",
    ];
    assert_eq!(rows[2..6], expected, "{rows:#?}");
}

#[test]
fn a_request_that_a_rule_sent_elsewhere_says_to_which_server() {
    let mut story = Story::default();
    story.point("s1/post:1/request#1", "post", |point| {
        (point.upstream, point.rules) = (Some(2), vec!["p/next".to_owned()]);
    });
    story.fired("p/next", "s1/post:1/request#1", "route");
    assert!(story.rows()[1].ends_with("! next: route, to server 2"), "{:#?}", story.rows());
}
