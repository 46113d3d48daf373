//! What the framer promises, over odd shapes and every way of splitting them.

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::{Block, BlockKind, Frame, Framer, with_data};

fn frames(framer: &mut Framer, chunks: &[Bytes]) -> Vec<Frame> {
    chunks.iter().flat_map(|chunk| framer.push(chunk)).collect()
}

/// The blocks of a stream, a late LF joined to the block it belongs to, and the tail.
fn blocks(chunks: &[Bytes]) -> (Vec<(Bytes, BlockKind)>, Option<Bytes>) {
    let mut framer = Framer::default();
    let mut blocks: Vec<(Bytes, BlockKind)> = Vec::new();
    for frame in frames(&mut framer, chunks) {
        match frame {
            Frame::Block(block) => blocks.push((block.bytes, block.kind)),
            Frame::Late(lf) => {
                let before = blocks.last_mut().expect("a late LF follows a block");
                before.0 = [&before.0[..], &lf[..]].concat().into();
            }
            Frame::Part(_) => panic!("no block here is that long"),
        }
    }
    (blocks, framer.take_tail())
}

fn one(text: &str) -> Block {
    match Framer::default().push(&Bytes::copy_from_slice(text.as_bytes())).pop() {
        Some(Frame::Block(block)) => block,
        other => panic!("{text:?} is one block, not {other:?}"),
    }
}

#[test]
fn each_kind_of_the_language_is_told_by_its_fields() {
    for (text, kind) in [
        ("event: message\ndata: {}\n\n", BlockKind::Message),
        ("data:{}\nid:0\nretry:3000\n\n", BlockKind::Message),
        ("id: A\ndata: \n\n", BlockKind::Priming),
        ("id: 0\nretry: 3000\ndata:\n\n", BlockKind::Priming),
        ("id: A\r\n\r\n", BlockKind::Priming),
        ("retry: 100\n\n", BlockKind::Retry),
        ("retry: soon\n\n", BlockKind::Comment),
        (": keepalive\n\n", BlockKind::Comment),
        ("\n", BlockKind::Comment),
        ("data:\n\n", BlockKind::Comment),
        ("event: endpoint\ndata: /msg?s=1\n\n", BlockKind::Endpoint),
        ("event: ping\ndata: x\n\n", BlockKind::Other),
    ] {
        assert_eq!(one(text).kind, kind, "{text:?}");
    }
}

#[test]
fn fields_are_found_in_any_order_and_data_lines_are_joined() {
    let block = one("id: 1\nid: 2\nevent: message\ndata: {\ndata:\"a\":1}\nretry: 5\n\n");
    assert_eq!(block.id.as_deref(), Some(&b"2"[..]));
    assert_eq!(block.data.as_deref(), Some(&b"{\n\"a\":1}"[..]));
    assert_eq!(one("id: a\0b\ndata: x\n\n").id, None, "an id with NUL is ignored, as readers do");
}

/// How the SDKs' servers and the odd ones write events, and how many blocks their readers see.
#[test]
fn every_shape_that_was_seen_on_the_wire_is_framed_as_readers_do() {
    use BlockKind::{Comment, Message, Other, Priming};
    let m = "{\"id\":1,\"result\":{}}";
    for (what, text, kinds) in [
        ("TypeScript: event, id, data", format!("event: message\nid: B\ndata: {m}\n\n"), &[Message][..]),
        (
            "Python: id, event, data, retry with CRLF",
            format!("id: 1\r\nevent: message\r\ndata: {m}\r\nretry: 5\r\n\r\n"),
            &[Message],
        ),
        ("rmcp: data, id, retry, no event", format!("data: {m}\nid: 0/3\nretry: 3000\n\n"), &[Message]),
        ("rmcp: priming", "data: \nid: 0\nretry: 3000\n\n".to_owned(), &[Priming]),
        ("TypeScript keep-alive", ": keepalive\n\n".to_owned(), &[Comment]),
        ("Python keep-alive", ": ping - 2026-01-01\r\n\r\n".to_owned(), &[Comment]),
        ("no space after the colon", format!("data:{m}\n\n"), &[Message]),
        ("data on several lines", "data: {\ndata: \"id\":1,\ndata: \"result\":{}}\n\n".to_owned(), &[Message]),
        ("CR only", format!("data: {m}\r\rdata: {m}\r\r"), &[Message, Message]),
        ("line ends mixed", format!("id: 1\rdata: {m}\n\r\n: x\r\n\n"), &[Message, Comment]),
        ("two events in one chunk", format!("data: {m}\n\ndata: {m}\n\n"), &[Message, Message]),
        ("an unknown event", format!("event: tick\ndata: {m}\n\n"), &[Other]),
        ("no final blank line", format!("data: {m}\n\ndata: {m}\n"), &[Message]),
    ] {
        let (found, _) = blocks(&[Bytes::from(text.clone())]);
        let found: Vec<BlockKind> = found.into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(found, kinds, "{what}: {text:?}");
    }
}

#[test]
fn a_lone_cr_ends_its_line_at_once_and_a_late_lf_belongs_to_the_block_before() {
    let mut framer = Framer::default();
    let ended = framer.push(&Bytes::from_static(b"data: 1\r\n\r"));
    assert!(matches!(&ended[..], [Frame::Block(block)] if &block.bytes[..] == b"data: 1\r\n\r"));
    assert_eq!(framer.push(&Bytes::from_static(b"\n")), [Frame::Late(Bytes::from_static(b"\n"))]);
    assert_eq!(framer.take_tail(), None, "it stands between two blocks");
    let cr_only = framer.push(&Bytes::from_static(b"data: 2\r\rdata: 3\r"));
    assert_eq!(cr_only.len(), 1, "the first block ends with its second CR");
}

#[test]
fn a_byte_order_mark_is_kept_and_hides_no_field() {
    assert_eq!(one("\u{feff}data: {}\n\n").kind, BlockKind::Message);
    assert_eq!(one("\u{feff}\n").bytes.len(), 4, "a blank line after a mark is blank");
    let split: Vec<Bytes> = "\u{feff}\ndata: 1\n\n".bytes().map(|byte| Bytes::from(vec![byte])).collect();
    assert_eq!(blocks(&split).0.len(), 2);
}

#[test]
fn a_last_block_without_a_blank_line_is_a_tail() {
    let (blocks, tail) = blocks(&[Bytes::from_static(b"data: 1\n\ndata: 2\n")]);
    assert_eq!((blocks.len(), tail.as_deref()), (1, Some(&b"data: 2\n"[..])));
}

#[test]
fn a_block_beyond_the_limit_comes_in_parts_and_the_next_one_is_whole_again() {
    let mut framer = Framer::with_limit(8);
    let input = [Bytes::from_static(b"data: 123"), Bytes::from_static(b"456\n\nid: 1\n\n")];
    let frames = frames(&mut framer, &input);
    let kinds: Vec<_> = frames
        .iter()
        .map(|frame| match frame {
            Frame::Block(block) => Some(block.kind),
            Frame::Late(_) | Frame::Part(_) => None,
        })
        .collect();
    assert_eq!(kinds, [None, Some(BlockKind::Unparsable), Some(BlockKind::Priming)]);
    let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.bytes().to_vec()).collect();
    assert_eq!(bytes, input.concat());
}

#[test]
fn other_data_leaves_every_other_field_as_it_was() {
    for (before, after) in [
        ("id: 7\r\ndata: {\r\ndata: }\r\nevent:message\r\n\r\n", "id: 7\r\ndata: []\r\nevent:message\r\n\r\n"),
        ("data:1\n\n", "data:[]\n\n"),
        ("data\n\n", "data:[]\n\n"),
        ("\u{feff}data: 1\n\n", "\u{feff}data: []\n\n"),
        (": only a comment\n\n", ": only a comment\n\n"),
    ] {
        let block = Bytes::copy_from_slice(before.as_bytes());
        assert_eq!(with_data(&block, b"[]"), after, "{before:?}");
    }
}

/// Text made of what is hard: line ends of all three sorts, marks, field names, and pieces of them.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 12] = [
        b"\r",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"data: {}",
        b"id: 1",
        b":",
        b"event: ping",
        b"x",
        b"\xEF\xBB\xBF",
        b"\xEF\xBB",
        b"\xFF",
    ];
    let piece = prop::sample::select(&PIECES[..]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn split(input: &[u8], sizes: &[usize]) -> Vec<Bytes> {
    let mut rest = Bytes::copy_from_slice(input);
    let mut chunks = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() || chunks.len() > 1000 {
            break;
        }
        chunks.push(rest.split_to((*size).min(rest.len())));
    }
    chunks
}

/// The slow, obvious way: split the whole text into lines, end a block at each blank one.
fn reference(input: &[u8]) -> (Vec<Bytes>, Option<Bytes>) {
    let (mut blocks, mut block, mut line) = (Vec::new(), BytesMut::new(), Vec::new());
    let mut at = 0;
    while at < input.len() {
        let end = match &input[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        block.extend_from_slice(&input[at..at + end.max(1)]);
        if end == 0 {
            line.push(input[at]);
        } else {
            if line.is_empty() || (blocks.is_empty() && block.len() == 3 + end && line == b"\xEF\xBB\xBF") {
                blocks.push(block.split().freeze());
            }
            line.clear();
        }
        at += end.max(1);
    }
    (blocks, Some(block.freeze()).filter(|tail| !tail.is_empty()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_byte_is_lost_however_the_stream_is_split(input in stream(), sizes in prop::collection::vec(1usize..9, 1..6)) {
        let mut framer = Framer::default();
        let mut out = BytesMut::new();
        for frame in frames(&mut framer, &split(&input, &sizes)) {
            out.extend_from_slice(frame.bytes());
        }
        out.extend_from_slice(&framer.take_tail().unwrap_or_default());
        prop_assert_eq!(&out[..], &input[..]);
    }

    #[test]
    fn every_way_of_splitting_gives_the_blocks_of_the_reference(input in stream(), sizes in prop::collection::vec(1usize..9, 1..6)) {
        let (expected, expected_tail) = reference(&input);
        for chunks in [split(&input, &sizes), split(&input, &[1]), split(&input, &[usize::MAX])] {
            let (blocks, tail) = blocks(&chunks);
            let bytes: Vec<Bytes> = blocks.into_iter().map(|(bytes, _)| bytes).collect();
            prop_assert_eq!(&bytes, &expected);
            prop_assert_eq!(&tail, &expected_tail);
        }
    }
}
