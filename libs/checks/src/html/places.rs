//! Lines and columns of places in a text.

use std::collections::HashMap;

use trapline_model::HtmlLocation;

/// Where `offsets` are in `text`, by one pass: lines, and characters in them, from 1.
pub(super) fn locate(text: &str, mut offsets: Vec<usize>) -> HashMap<usize, HtmlLocation> {
    offsets.sort_unstable();
    offsets.dedup();
    let mut found = HashMap::with_capacity(offsets.len());
    let (mut at, mut line, mut column) = (0, 1, 1);
    for offset in offsets {
        let end = text.floor_char_boundary(offset);
        let passed = &text[at..end];
        match passed.rfind('\n') {
            Some(last) => {
                line += passed.matches('\n').count();
                column = 1 + passed[last + 1..].chars().count();
            }
            None => column += passed.chars().count(),
        }
        at = end;
        found.insert(offset, HtmlLocation { line, column });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        let found = locate("aé\n\nüb", vec![0, 3, 5, 7, 7]);
        let place = |offset| (found[&offset].line, found[&offset].column);
        assert_eq!([place(0), place(3), place(5), place(7)], [(1, 1), (1, 3), (3, 1), (3, 2)]);
    }
}
