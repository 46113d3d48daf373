//! Reads the data of SSE events out of chunks of bytes.
//!
//! Not the engine's framer, on purpose: a peer that shared it would agree with its mistakes. It reads what servers
//! write (LF or CRLF, comments, ids, several data lines) and keeps no byte.

/// Reads events.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    bytes: Vec<u8>,
    data: Vec<String>,
}

impl EventReader {
    /// Takes a chunk of the stream.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
    }

    /// The data of the next whole event that has any.
    pub(super) fn next(&mut self) -> Option<String> {
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\r', '\n']);
            if line.is_empty() {
                let data = std::mem::take(&mut self.data).join("\n");
                if !data.is_empty() {
                    return Some(data);
                }
            } else if let Some(data) = line.strip_prefix("data:") {
                self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::EventReader;

    fn read(chunks: &[&str]) -> Vec<String> {
        let mut reader = EventReader::default();
        let mut events = Vec::new();
        for chunk in chunks {
            reader.push(chunk.as_bytes());
            events.extend(std::iter::from_fn(|| reader.next()));
        }
        events
    }

    /// A priming event and a comment carry no message; a reader that returned them would hand on text that is no JSON.
    #[test]
    fn only_events_with_data_are_returned() {
        assert_eq!(read(&["id: 0\nretry: 3000\ndata:\n\n: alive\n\nevent: message\ndata: {}\n\n"]), ["{}"]);
    }

    #[test]
    fn an_event_split_over_chunks_and_lines_is_one() {
        assert_eq!(read(&["data: a\r", "\ndata: b\r\n", "\r\n"]), ["a\nb"]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_none() {
        assert_eq!(read(&["data: a\n"]), Vec::<String>::new());
    }
}
