//! What is printed: lines of JSON on stdout, and words for people on stderr.

use std::io::Write;

use serde_json::Value;

const MOST_CHARACTERS: usize = 900; // of a message
const LONGEST_SAID: usize = 1_000;

/// Print one line; the process ends where nobody reads it any more.
pub fn print_line(line: &Value) {
    let mut text = line.to_string();
    text.push('\n');
    let mut stdout = std::io::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(1);
    }
}

/// Say something in one line on stderr.
pub fn complain(words: &str) {
    // Nobody may be listening, and that is no reason to end.
    let _ = writeln!(std::io::stderr().lock(), "{}", cut(words, LONGEST_SAID));
}

/// Words that may be somebody else's, on one line and not longer than needed.
pub fn on_one_line(words: &str) -> String {
    cut(words, MOST_CHARACTERS)
}

fn cut(words: &str, most: usize) -> String {
    let pieces = words.split(|char: char| char.is_whitespace() || char.is_control());
    let line = pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let begun: String = line.chars().take(most - 3).collect();
    format!("{begun}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_on_one_line_and_are_cut() {
        assert_eq!(on_one_line(" a\n\u{7}b  c\r\n"), "a b c");
        assert_eq!(on_one_line(&"ü".repeat(5_000)).chars().count(), MOST_CHARACTERS);
    }
}
