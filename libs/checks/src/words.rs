//! Words of a text.

/// The words of `text`: runs of letters and digits.
pub(crate) fn of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// How many words `text` has. Scripts without blanks between words count one for two characters.
pub(crate) fn count(text: &str) -> usize {
    of(text).map(|word| (word.chars().filter(|char| is_unspaced(*char)).count() / 2).max(1)).sum()
}

/// Whether the script of `char` has no blanks between words: Han, kana, Thai, Lao and Khmer.
fn is_unspaced(char: char) -> bool {
    matches!(char,
        '\u{E00}'..='\u{EFF}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_scripts_with_and_without_blanks() {
        assert_eq!(count("Your code is 123-456."), 5);
        assert_eq!(count("ご注文ありがとう"), 4);
        assert_eq!(count(" – "), 0);
    }
}
