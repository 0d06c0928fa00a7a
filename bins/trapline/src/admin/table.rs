//! Keys as a table of text.

use trapline_app::KnownKey;
use trapline_model::{Access, Time};

const HEAD: [&str; 7] = ["ID", "PREFIX", "ACCESS", "CREATED", "LAST USED", "EXPIRES", "NAME"];

/// A line for each key, under a line of headings. The name is last, because it may hold blanks.
pub(super) fn of_keys(keys: &[KnownKey]) -> String {
    let head = HEAD.map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(keys.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..HEAD.len() - 1).map(width).chain([0]).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

fn row(key: &KnownKey) -> [String; 7] {
    let access = match key.access {
        Access::Read => "read",
        Access::Write => "write",
    };
    let time = |time: Option<Time>| time.map_or_else(|| "never".to_owned(), |it| it.to_string());
    // A name is anybody's text, and a terminal takes control characters for commands.
    let name: String = key.name.chars().filter(|letter| !letter.is_control()).collect();
    [
        key.id.to_string(),
        key.prefix.clone(),
        access.to_owned(),
        time(Some(key.created_at)),
        time(key.last_used_at),
        time(key.expires_at),
        name,
    ]
}
