use super::put;
use crate::cql::plain::in_parts;

#[test]
fn parts_are_bounded_and_whole() {
    let docs = [10_000, 10_000, 10_000, 10_000, 90_000, 1, 1, 39_000, 10_000];
    let ops: Vec<_> =
        (0..).zip(docs).map(|(number, size)| put(number, &"x".repeat(size))).collect();
    let parts = in_parts(&ops);
    let sizes: Vec<_> = parts.iter().map(|part| part.len()).collect();
    assert_eq!(sizes, [4, 1, 3, 1]);
    assert_eq!(parts.concat(), ops);
    assert!(in_parts(&[]).is_empty());
}
