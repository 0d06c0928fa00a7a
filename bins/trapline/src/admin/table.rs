//! Keys and plans as tables of text.

use trapline_app::{ApiKeyDetails, Plan, PlanCatalog, PlanFeature, PlanLimit};
use trapline_model::{Access, Time};

const KEY_HEAD: [&str; 7] = ["ID", "PREFIX", "ACCESS", "CREATED", "LAST USED", "EXPIRES", "NAME"];
const PLAN_HEAD: [&str; 9] = [
    "ID",
    "INBOXES",
    "MESSAGES/MONTH",
    "MESSAGES/INBOX",
    "MESSAGE BYTES",
    "RETENTION DAYS",
    "MEMBERS",
    "FEATURES",
    "NAME",
];

/// A line for each key, under a line of headings.
pub(super) fn of_keys(keys: &[ApiKeyDetails]) -> String {
    table(KEY_HEAD, keys.iter().map(row))
}

/// A line for each plan, under a line of headings.
pub(super) fn of_plans(catalog: &PlanCatalog) -> String {
    table(PLAN_HEAD, catalog.plans().iter().map(|plan| plan_row(plan)))
}

/// The last column is a name, because it may hold blanks.
fn table<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..COLUMNS - 1).map(width).chain([0]).collect();
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

fn plan_row(plan: &Plan) -> [String; 9] {
    let most = |limit| plan.most(limit).map_or_else(|| "–".to_owned(), |most| most.to_string());
    let features = PlanFeature::ALL.iter().filter(|feature| plan.includes(**feature));
    let features: Vec<_> = features.map(|feature| feature.name()).collect();
    let features = if features.is_empty() { "–".to_owned() } else { features.join(",") };
    let [inboxes, month, inbox, bytes, days, members] = PlanLimit::ALL.map(most);
    [plan.id.clone(), inboxes, month, inbox, bytes, days, members, features, plan.name.clone()]
}

fn row(key: &ApiKeyDetails) -> [String; 7] {
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
