//! HTTP/1.1 heads and body framings, taken apart by hand.
//!
//! It keeps a head's bytes as they came and undoes the framing of a body byte by byte, so that a test can say what has
//! crossed so far. It forgives nothing: what is not well formed fails the test.

/// A request's or an answer's head as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// All its bytes, with the empty line.
    pub(crate) raw: Vec<u8>,
}

impl Head {
    /// Its lines without the line ends, the empty one left out. Bytes above 127 show as `\xNN`.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = self.raw.split(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !line.is_empty()).map(|line| line.escape_ascii().to_string()).collect()
    }

    /// The request line or status line.
    pub(crate) fn start(&self) -> String {
        self.lines().first().cloned().unwrap_or_default()
    }

    /// An answer's status.
    #[track_caller]
    pub(crate) fn status(&self) -> u16 {
        let start = self.start();
        start.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("no status in {start:?}"))
    }

    /// The values of a header, in order.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let fields = self.lines().into_iter().skip(1);
        let fields = fields.filter_map(|line| line.split_once(':').map(|(n, v)| (n.to_owned(), v.trim().to_owned())));
        fields.filter(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    /// The one value of a header, if it is there.
    #[track_caller]
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let mut values = self.values(name);
        assert!(values.len() < 2, "{name} comes more than once: {values:?}");
        values.pop()
    }
}

/// Undoes the framing of one body.
#[derive(Debug)]
pub(crate) enum Decoder {
    /// So many bytes are still to come.
    Length(usize),
    /// Chunks.
    Chunked(Chunk),
    /// Everything up to the close.
    UntilClose,
    /// All of it has come.
    Done,
}

/// Where in a chunked body the next byte falls.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// In a size line, which has these bytes so far.
    Size(Vec<u8>),
    /// In a chunk's data, of which so many bytes are to come, and then a line end.
    Data(usize),
    /// In the line end after a chunk, of which so many bytes are to come.
    DataEnd(usize),
    /// In the trailers; the line so far.
    Trailer(Vec<u8>),
}

impl Decoder {
    /// The framing an answer's head announces, to a request made with `method`.
    pub(crate) fn for_answer(head: &Head, method: &str) -> Self {
        let bodiless = method == "HEAD" || matches!(head.status(), 100..=199 | 204 | 304);
        if bodiless { Self::Done } else { Self::announced(head).unwrap_or(Self::UntilClose) }
    }

    /// The framing a request's head announces.
    pub(crate) fn for_request(head: &Head) -> Self {
        Self::announced(head).unwrap_or(Self::Done)
    }

    fn announced(head: &Head) -> Option<Self> {
        if head.value("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return Some(Self::Chunked(Chunk::Size(Vec::new())));
        }
        let length = head.value("content-length")?.parse().expect("a length is a number");
        Some(if length == 0 { Self::Done } else { Self::Length(length) })
    }

    /// Whether the body has come to its announced end.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// Takes framed bytes from the front of `wire` and returns the body bytes in them; stops at the body's end and after
    /// `limit` body bytes. What it leaves in `taken` is how many framed bytes it used.
    pub(crate) fn decode(&mut self, wire: &[u8], limit: usize, taken: &mut usize) -> Vec<u8> {
        let mut body = Vec::new();
        *taken = 0;
        while *taken < wire.len() && !self.is_done() {
            let rest = &wire[*taken..];
            if self.run(rest.len()) == 0 {
                self.step(rest[0]);
                *taken += 1;
                continue;
            }
            let count = self.run(rest.len()).min(limit - body.len());
            if count == 0 {
                break;
            }
            body.extend_from_slice(&rest[..count]);
            *taken += count;
            self.advance(count);
        }
        body
    }

    /// How many of the next `available` bytes are body bytes.
    fn run(&self, available: usize) -> usize {
        match self {
            Self::Length(left) | Self::Chunked(Chunk::Data(left)) => (*left).min(available),
            Self::UntilClose => available,
            Self::Chunked(_) | Self::Done => 0,
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Length(left) if *left == count => *self = Self::Done,
            Self::Chunked(Chunk::Data(left)) if *left == count => *self = Self::Chunked(Chunk::DataEnd(2)),
            Self::Length(left) | Self::Chunked(Chunk::Data(left)) => *left -= count,
            Self::UntilClose | Self::Chunked(_) | Self::Done => {}
        }
    }

    /// One byte of chunk framing.
    fn step(&mut self, byte: u8) {
        let Self::Chunked(chunk) = self else { unreachable!("only chunks have framing inside a body") };
        match chunk {
            Chunk::Size(line) if byte != b'\n' => line.push(byte),
            Chunk::Size(line) => {
                *chunk = match chunk_size(line) {
                    0 => Chunk::Trailer(Vec::new()),
                    size => Chunk::Data(size),
                };
            }
            Chunk::DataEnd(2) => {
                assert_eq!(byte, b'\r', "a chunk ends with CRLF");
                *chunk = Chunk::DataEnd(1);
            }
            Chunk::DataEnd(_) => {
                assert_eq!(byte, b'\n', "a chunk ends with CRLF");
                *chunk = Chunk::Size(Vec::new());
            }
            Chunk::Trailer(line) if byte != b'\n' => line.push(byte),
            Chunk::Trailer(line) if line == b"\r" => *self = Self::Done,
            Chunk::Trailer(_) => *chunk = Chunk::Trailer(Vec::new()),
            Chunk::Data(_) => unreachable!("data bytes are not framing"),
        }
    }
}

fn chunk_size(line: &[u8]) -> usize {
    let line = std::str::from_utf8(line).expect("a size line is ASCII").trim_end_matches('\r');
    let digits = line.split(';').next().unwrap_or_default().trim();
    usize::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("not a chunk size: {line:?}"))
}

/// One chunk with this data.
pub(crate) fn chunk(data: impl AsRef<[u8]>) -> Vec<u8> {
    let data = data.as_ref();
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

/// The end of a chunked body.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
