//! The built-in engine: rules with points, which are added.

mod facts;
mod lists;
mod page;
mod phrases;
mod rules;
mod style;

#[cfg(test)]
mod tests;

use trapline_mime::View;
use trapline_model::{MatchedRule, SpamReport, Time};

use facts::Facts;

/// The engine's name.
pub const ENGINE: &str = "builtin";
/// The version of its rules. Whoever changes what a rule matches or its points, raises it.
pub const VERSION: &str = "builtin/1";

/// Judges a message that came at `received_at`.
#[must_use]
pub fn check(raw: &[u8], received_at: Time, threshold: f64, now: Time) -> SpamReport {
    let view = View::read(raw);
    let facts = Facts::of(&view, received_at);
    let mut tenths = 0;
    let mut matched: Vec<(u32, &rules::SpamRule)> = Vec::new();
    for rule in rules::all() {
        let points = rule.points(&facts);
        if points > 0 {
            tenths += points;
            matched.push((points, rule));
        }
    }
    matched.sort_by(|(points, rule), (others, other)| {
        others.cmp(points).then_with(|| rule.name.cmp(other.name))
    });
    let score = points(tenths);
    SpamReport {
        engine: ENGINE.to_owned(),
        engine_version: VERSION.to_owned(),
        score,
        threshold,
        is_spam: score >= threshold,
        truncated: facts.truncated,
        checked_at: now,
        rules: matched
            .into_iter()
            .map(|(tenths, rule)| MatchedRule {
                name: rule.name.to_owned(),
                score: points(tenths),
                description: rule.description.to_owned(),
            })
            .collect(),
    }
}

/// Points of so many tenths.
fn points(tenths: u32) -> f64 {
    f64::from(tenths) / 10.0
}
