//! Runs for GitHub's workflows: annotations, which are lines of the step's output, and the table of the step's summary.
//!
//! The one rule: what a name or a reason holds ends no line, no cell and no command; and what GitHub would cut off is left out
//! and counted.

use super::runs::{KnownState, Row, RowState, Runs};
use super::table::why;
use super::verdict::told;

/// How many annotations of one kind GitHub shows of a step.
const SHOWN: usize = 10;
/// How many bytes a step's summary may have, and some left for what others write.
pub const SUMMARY: u64 = 1_000_000;

/// The annotations: an error for each run that failed and each known failure that is gone.
#[must_use]
pub fn annotations(runs: &Runs) -> String {
    let failed = runs.rows.iter().filter(|row| row.state == RowState::Failed).map(error);
    let gone = runs.known.iter().filter(|line| line.state == KnownState::Gone);
    let gone = gone.map(|line| command("mishap: known failures", &line.words()));
    let all: Vec<String> = failed.chain(gone).collect();
    match all.len() {
        0..=SHOWN => all.concat(),
        number => {
            let more = format!("{} more, in the summary and the log", number - (SHOWN - 1));
            all[..SHOWN - 1].concat() + &command("mishap", &more)
        }
    }
}

fn error(row: &Row) -> String {
    let verdict = &row.ran.verdict;
    let reasons = row.ran.counted().map(told);
    let again = row.ran.again.iter().map(|again| format!("again: {again}"));
    let text: Vec<String> = reasons.chain(again).collect();
    command(&format!("mishap {}: exit {}", row.title, verdict.exit), &text.join("\n"))
}

fn command(title: &str, text: &str) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let title = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::error title={title}::{}\n", data(text))
}

/// The table of the step's summary in Markdown, in so many bytes at most.
#[must_use]
pub fn summary(runs: &Runs, room: usize) -> String {
    let mut text = String::from("### mishap\n\n| run | profiles | seed | exit | why |\n|--:|---|--:|--:|---|\n");
    let status = runs.exit();
    let last = format!("\n{}\n", cell(&format!("exit {}: {}", status.code, status.why)));
    // What follows the rows: how many there is no room for, and the last line.
    let end = last.len() + 64;
    for (index, row) in runs.rows.iter().enumerate() {
        let line = line(row);
        if text.len() + line.len() + end > room {
            text += &format!("\n… and {} more\n", runs.rows.len() - index);
            break;
        }
        text += &line;
    }
    let known: String = runs.known.iter().map(|line| format!("- {}\n", cell(&line.words()))).collect();
    if text.len() + known.len() + end <= room && !known.is_empty() {
        text = text + "\n" + &known;
    }
    if text.len() + last.len() <= room { text + &last } else { String::new() }
}

fn line(row: &Row) -> String {
    let mark = match row.state {
        RowState::Passed => "✓",
        RowState::Failed => "✗",
        RowState::Known => "known",
    };
    let (seed, exit) = (row.ran.header.seed, row.ran.verdict.exit);
    let again = row.ran.again.iter().filter(|_| exit != 0).map(|again| format!("<br><code>{}</code>", cell(again)));
    let why = cell(&why(row)) + &again.collect::<String>();
    format!("| {} | {} | {seed} | {mark} {exit} | {why} |\n", row.row, cell(&row.title))
}

/// Text that Markdown takes as it is, in one line.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => cell.push_str("&amp;"),
            '<' => cell.push_str("&lt;"),
            '>' => cell.push_str("&gt;"),
            c if c.is_control() => cell.push(' '),
            // As references, which no rule of Markdown looks into.
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '@' | '$' => {
                cell.push_str(&format!("&#{};", u32::from(c)));
            }
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::tests::{failed, known, passed, several};

    #[test]
    fn an_annotation_is_one_line_whatever_it_says() {
        let mut row = failed("a,b: 100%", "command", 9);
        row.1.verdict.reasons[0].why = "50%\r\nnext".to_owned();
        assert_eq!(
            annotations(&several(&[row], &[])),
            "::error title=mishap a%2Cb%3A 100%25%3A exit 9::50%25%0D%0Anext%0Aagain: mishap run -p a,b: 100%25\n"
        );
        assert_eq!(annotations(&several(&[passed("x")], &[])), "");
    }

    #[test]
    fn a_known_failure_is_no_error_and_one_that_is_gone_is() {
        let told = annotations(&several(&[failed("a", "command", 9), passed("b")], &[known("a", 9), known("b", 9)]));
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.starts_with("::error title=mishap%3A known failures::known failure b (exit 9) is gone"), "{told}");
    }

    #[test]
    fn of_many_errors_ten_are_shown_and_the_last_counts_the_others() {
        let errors = |number: usize| {
            let rows: Vec<_> = (0..number).map(|n| failed(&format!("p{n}"), "command", 9)).collect();
            annotations(&several(&rows, &[])).lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(errors(10).len(), 10);
        assert!(!errors(10)[9].contains("more"));
        let many = errors(30);
        assert_eq!((many.len(), &*many[9]), (10, "::error title=mishap::21 more, in the summary and the log"));
    }

    #[test]
    fn a_summary_is_a_table_that_no_name_breaks() {
        let mut row = failed("a|b\n<i>`x`_y_", "command", 9);
        row.1.again = Some("mishap run -- 'a|b'".to_owned());
        let text = summary(&several(&[row, passed("c")], &[]), 10_000);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(rows.iter().all(|row| row.matches('|').count() == 6), "{text}");
        assert!(text.contains("a&#124;b &lt;i&gt;&#96;x&#96;&#95;y&#95;") && text.contains("✗ 9"), "{text}");
        assert!(
            text.ends_with(
                "\nexit 9: 1 of 2 runs failed; run 1 (a&#124;b &lt;i&gt;&#96;x&#96;&#95;y&#95;): command failed\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_summary_stays_within_its_room_and_counts_what_is_left_out() {
        let rows: Vec<_> = (0..100).map(|n| failed(&format!("profile-{n}"), "command", 9)).collect();
        let runs = several(&rows, &[]);
        let whole = summary(&runs, 1_000_000);
        assert!(!whole.contains("more"), "{whole}");
        for room in [0, 100, 1_000, 4_000] {
            assert!(summary(&runs, room).len() <= room, "{room}");
        }
        assert!(summary(&runs, 4_000).contains("\n… and "), "{}", summary(&runs, 4_000));
    }
}
