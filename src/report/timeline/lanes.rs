//! The drawing of a row: time, stream, three lanes, text. It knows arrows and columns, nothing of MCP.

/// The columns that a label has, and that everything before the text has beside the lanes.
const LABEL: usize = 20;
const BEFORE_TEXT: usize = 34;

/// The lanes where nothing crosses.
pub(in crate::report) const IDLE: &str = "│       │       │";

/// A space at which a text is not broken.
pub(in crate::report) const NO_BREAK: char = '\u{a0}';

/// The line above the rows.
pub(super) const HEADING: &str = "
    time  stream                client  proxy  server  ■ held   ✗ stopped   + made   ! what a rule did
";

/// What is drawn between two lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Arrow {
    /// Nothing went there.
    None,
    /// From the client towards the server.
    Right,
    /// From the server towards the client.
    Left,
}

/// What is drawn in the proxy's lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Mark {
    /// It passed, or nothing was there.
    Lane,
    /// It is held here, or leaves from here.
    Held,
    /// It went no further, because of a rule.
    Stopped,
    /// A rule made it here.
    Made,
}

/// One row of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct Row {
    /// Its place.
    pub(in crate::report) seq: u64,
    /// Microseconds since the run began.
    pub(in crate::report) at: u64,
    /// The place of arrival of the point that it shows, if it shows one.
    pub(in crate::report) point: Option<u64>,
    /// The key of the exchange on whose stream it is; none: on no stream.
    pub(in crate::report) stream: Option<String>,
    /// The stream's name.
    pub(in crate::report) label: String,
    /// Between client and proxy.
    pub(in crate::report) client: Arrow,
    /// At the proxy.
    pub(in crate::report) mark: Mark,
    /// Between proxy and server.
    pub(in crate::report) server: Arrow,
    /// What crossed.
    pub(in crate::report) text: String,
    /// What rules did to it, one line each.
    pub(in crate::report) faults: Vec<String>,
}

/// Draws a row and the lines that belong to it, none of them wider than `columns`.
pub(super) fn draw(row: &Row, columns: usize, out: &mut String) {
    let faults: Vec<_> = row.faults.iter().map(|fault| format!("! {fault}")).collect();
    draw_in([&lanes(row), IDLE], row, &faults, columns, out);
}

/// The same in lanes that were drawn elsewhere, of the row and below it, with these lines under its text.
pub(in crate::report) fn draw_in(
    [crossing, idle]: [&str; 2],
    row: &Row,
    under: &[String],
    columns: usize,
    out: &mut String,
) {
    let width = columns - BEFORE_TEXT - crossing.chars().count();
    let time = format!("{:>4}.{:03}", row.at / 1_000_000, row.at / 1_000 % 1_000);
    let under = under.iter().flat_map(|text| wrap(text, width));
    for (number, text) in wrap(&row.text, width).into_iter().chain(under).enumerate() {
        let line = match number {
            0 => format!("{time}  {:LABEL$}  {crossing}  {text}", shortened(&row.label)),
            _ => format!("{:8}  {:LABEL$}  {idle}  {text}", "", ""),
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// The three lanes of a row.
pub(in crate::report) fn lanes(row: &Row) -> String {
    let arrow = |arrow| match arrow {
        Arrow::None => "       ",
        Arrow::Right => "──────▶",
        Arrow::Left => "◀──────",
    };
    let mark = match row.mark {
        Mark::Lane => '│',
        Mark::Held => '■',
        Mark::Stopped => '✗',
        Mark::Made => '+',
    };
    format!("│{}{mark}{}│", arrow(row.client), arrow(row.server))
}

/// A label that fits its column; what goes is before the id, which tells one stream from another.
fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    let id = label.rfind(" id ").map_or("", |at| &label[at..]);
    let room = (LABEL - 1).saturating_sub(id.chars().count());
    if room < LABEL / 3 {
        return label.chars().take(LABEL - 1).chain(['…']).collect();
    }
    label.chars().take(room).chain(['…']).chain(id.chars()).collect()
}

/// Breaks text at spaces, or inside a word that is longer than `width`; a no-break space becomes a space. At least
/// one line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::from("  "));
            used = 2;
        } else if used > 0 {
            lines.last_mut().expect("there is always a line").push(' ');
            used += 1;
        }
        for letter in word.chars() {
            if used == width {
                lines.push(String::from("  "));
                used = 2;
            }
            let letter = if letter == NO_BREAK { ' ' } else { letter };
            lines.last_mut().expect("there is always a line").push(letter);
            used += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_breaks_at_spaces_and_inside_a_word_only_when_it_fits_no_line() {
        assert_eq!(wrap("short", 51), ["short"]);
        assert_eq!(wrap("", 51), [""]);
        let long = wrap(&format!("{} {}", "a".repeat(40), "b".repeat(60)), 51);
        assert_eq!(long, ["a".repeat(40), format!("  {}", "b".repeat(49)), format!("  {}", "b".repeat(11))]);
    }

    #[test]
    fn no_row_is_wider_than_it_may_be() {
        let row = Row {
            seq: 1,
            at: 9_999_999_999,
            point: None,
            stream: None,
            label: "s12 resume of POST 123 tools/call".to_owned(),
            client: Arrow::Right,
            mark: Mark::Stopped,
            server: Arrow::Left,
            text: "x".repeat(200),
            faults: vec!["y z ".repeat(60)],
        };
        for columns in [80, 100] {
            let mut text = String::new();
            draw(&row, columns, &mut text);
            assert_eq!(text.lines().map(|line| line.chars().count()).max(), Some(columns), "{text}");
        }
    }
}
