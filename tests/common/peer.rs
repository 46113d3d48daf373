//! One end of an HTTP/1.1 connection, client's or server's: writes bytes, reads heads and bodies in exact steps.

use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use super::body::{Decoder, Head, LAST_CHUNK, chunk};
use super::wire::{Closed, Wire, text};

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As its framing announced.
    Eof,
    /// With a FIN before that.
    Fin,
    /// With a RST before that.
    Reset,
}

/// One end of a connection, and the body that is being read from it.
#[derive(Debug)]
pub(crate) struct Peer {
    wire: Wire,
    body: Decoder,
}

impl Peer {
    /// Connects as a client.
    #[track_caller]
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::on(Wire::connect(address))
    }

    /// Takes over an accepted connection.
    pub(crate) fn over(stream: TcpStream) -> Self {
        Self::on(Wire::over(stream))
    }

    fn on(wire: Wire) -> Self {
        Self { wire, body: Decoder::Done }
    }

    /// Waits no longer than this for anything: for checks that are meant to fail.
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.wire.set_patience(patience);
        self
    }

    /// Makes the kernel take little in advance here, so that the other side has to wait for this one to read.
    pub(crate) fn with_small_buffer(self) -> Self {
        Self { wire: self.wire.with_small_buffer(), body: self.body }
    }
}

// === Writing ===

impl Peer {
    /// Writes these bytes.
    #[track_caller]
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.wire.send(bytes);
    }

    /// Writes these bytes from a thread of its own, for more than the buffers on the way can take.
    pub(crate) fn send_beside(&self, bytes: impl Into<Vec<u8>>) -> JoinHandle<std::io::Result<()>> {
        self.wire.send_beside(bytes.into())
    }

    /// Writes until the other side is gone, as [`Wire::send_for_ever`].
    pub(crate) fn send_for_ever(&self) -> JoinHandle<usize> {
        self.wire.send_for_ever()
    }

    /// Writes until nothing more is taken without waiting; returns how many bytes were.
    pub(crate) fn fill(&mut self) -> usize {
        self.wire.fill()
    }

    /// Writes one chunk of a chunked body, in one write.
    #[track_caller]
    pub(crate) fn send_chunk(&mut self, data: impl AsRef<[u8]>) {
        self.wire.send(chunk(data));
    }

    /// Ends a chunked body.
    #[track_caller]
    pub(crate) fn send_last_chunk(&mut self) {
        self.wire.send(LAST_CHUNK);
    }

    /// Says that nothing more will be written.
    #[track_caller]
    pub(crate) fn fin(&mut self) {
        self.wire.fin();
    }

    /// Closes the connection with a FIN.
    #[track_caller]
    pub(crate) fn leave(self) {
        self.wire.leave();
    }

    /// Closes the connection with a RST.
    pub(crate) fn reset(self) {
        self.wire.reset();
    }
}

// === Reading ===

impl Peer {
    /// Reads an answer's head; its body is then read with [`Peer::sees`] and [`Peer::end`].
    #[track_caller]
    pub(crate) fn answer(&mut self) -> Head {
        self.answer_to("GET")
    }

    /// Reads an answer's head to a request made with `method`: to a HEAD there is no body.
    #[track_caller]
    pub(crate) fn answer_to(&mut self, method: &str) -> Head {
        let head = self.head("an answer's head");
        self.body = Decoder::for_answer(&head, method);
        head
    }

    /// Reads a request's head; its body is then read with [`Peer::sees`] and [`Peer::end`].
    #[track_caller]
    pub(crate) fn request(&mut self) -> Head {
        let head = self.head("a request's head");
        self.body = Decoder::for_request(&head);
        head
    }

    /// Reads a request with its body.
    #[track_caller]
    pub(crate) fn whole_request(&mut self) -> (Head, Vec<u8>) {
        let head = self.request();
        (head, self.whole_body())
    }

    /// Reads an answer with its body.
    #[track_caller]
    pub(crate) fn whole_answer(&mut self) -> (Head, Vec<u8>) {
        let head = self.answer();
        (head, self.whole_body())
    }

    #[track_caller]
    fn whole_body(&mut self) -> Vec<u8> {
        let (body, end) = self.rest();
        assert_eq!(end, End::Eof, "the body ended early, after {}", text(&body));
        body
    }

    #[track_caller]
    fn head(&mut self, what: &str) -> Head {
        assert!(
            self.body.is_done() || matches!(self.body, Decoder::UntilClose),
            "the body before was not read to its end"
        );
        loop {
            if let Some(end) = self.wire.unread().windows(4).position(|window| window == b"\r\n\r\n") {
                return Head { raw: self.wire.take(end + 4) };
            }
            if let Err(closed) = self.wire.read_more(&|| what.to_owned()) {
                panic!("{closed:?} instead of {what}; unread so far: {}", text(self.wire.unread()));
            }
        }
    }

    /// Waits until the next bytes of the body are exactly these.
    #[track_caller]
    pub(crate) fn sees(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            let awaited = || format!("{} of the body, after {}", text(&expected[seen.len()..]), text(&seen));
            match self.some_body(expected.len() - seen.len(), &awaited) {
                Ok(bytes) => seen.extend(bytes),
                Err(end) => panic!("the body ended with {end:?} before {}", awaited()),
            }
        }
        assert!(seen == expected, "the body has {} where {} was sent", text(&seen), text(expected));
    }

    /// Waits for the next event of the body, up to its blank line.
    #[track_caller]
    pub(crate) fn event(&mut self) -> String {
        let mut event = Vec::new();
        while !event.ends_with(b"\n\n") {
            match self.some_body(1, &|| format!("the end of an event, after {}", text(&event))) {
                Ok(byte) => event.extend(byte),
                Err(end) => panic!("the body ended with {end:?} inside the event {}", text(&event)),
            }
        }
        String::from_utf8(event).expect("an event is UTF-8")
    }

    /// Waits for the body's end; fails if more of the body comes before it.
    #[track_caller]
    pub(crate) fn end(&mut self) -> End {
        let (body, end) = self.rest();
        assert!(body.is_empty(), "expected the end of the body and got {}", text(&body));
        end
    }

    /// Reads what is left of the body, and how it ends.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> (Vec<u8>, End) {
        let mut body = Vec::new();
        loop {
            let so_far = body.len();
            match self.some_body(usize::MAX, &|| format!("the end of the body, after {so_far} bytes")) {
                Ok(bytes) => body.extend(bytes),
                Err(end) => return (body, end),
            }
        }
    }

    /// Reads a chunked body to its end, as the chunks in which it came.
    #[track_caller]
    pub(crate) fn chunks(&mut self) -> Vec<Vec<u8>> {
        self.body = Decoder::Done;
        let mut chunks = Vec::new();
        loop {
            let size = self.raw(|unread| Some(unread.windows(2).position(|two| two == b"\r\n")? + 2));
            let size = String::from_utf8(size).ok().and_then(|line| usize::from_str_radix(line.trim_end(), 16).ok());
            let size = size.expect("a chunk begins with its size");
            let mut chunk = self.raw(|unread| (unread.len() >= size + 2).then_some(size + 2));
            if size == 0 {
                return chunks;
            }
            chunk.truncate(size);
            chunks.push(chunk);
        }
    }

    /// Reads on until `enough` says how many of the unread bytes are wanted.
    #[track_caller]
    fn raw(&mut self, enough: impl Fn(&[u8]) -> Option<usize>) -> Vec<u8> {
        loop {
            if let Some(count) = enough(self.wire.unread()) {
                return self.wire.take(count);
            }
            if let Err(closed) = self.wire.read_more(&|| "the rest of a chunk".to_owned()) {
                panic!("{closed:?} inside the chunks; unread so far: {}", text(self.wire.unread()));
            }
        }
    }

    /// The next body bytes, at least one and at most `limit`, or how the body ended.
    #[track_caller]
    fn some_body(&mut self, limit: usize, awaited: &dyn Fn() -> String) -> Result<Vec<u8>, End> {
        loop {
            let mut taken = 0;
            let bytes = self.body.decode(self.wire.unread(), limit, &mut taken);
            self.wire.take(taken);
            if !bytes.is_empty() {
                return Ok(bytes);
            }
            if self.body.is_done() {
                return Err(End::Eof);
            }
            self.wire.read_more(awaited).map_err(|closed| self.closed_early(closed))?;
        }
    }

    fn closed_early(&mut self, closed: Closed) -> End {
        match (closed, &self.body) {
            (Closed::Fin, Decoder::UntilClose) => {
                self.body = Decoder::Done;
                End::Eof
            }
            (Closed::Fin, _) => End::Fin,
            (Closed::Reset, _) => End::Reset,
        }
    }

    /// Waits until the other side closes the connection; fails if anything more comes before.
    #[track_caller]
    pub(crate) fn closed(&mut self) -> Closed {
        let closed = self.wire.read_more(&|| "the connection's end".to_owned());
        assert!(self.wire.unread().is_empty(), "expected the connection's end and got {}", text(self.wire.unread()));
        closed.expect_err("something was read although nothing is there")
    }

    /// Waits for a FIN before which nothing came but a beginning of `whole`, or nothing at all.
    #[track_caller]
    pub(crate) fn closes_after_part_of(&mut self, whole: &str) {
        let closed = loop {
            if let Err(closed) = self.wire.read_more(&|| "the connection's end".to_owned()) {
                break closed;
            }
        };
        let part = self.wire.unread();
        assert!(whole.as_bytes().starts_with(part), "{} is no beginning of {whole:?}", text(part));
        assert_eq!(closed, Closed::Fin);
    }

    /// Whether nothing unread has arrived up to now.
    pub(crate) fn is_silent(&self) -> bool {
        self.wire.is_silent()
    }
}
