//! The table of rules: a new one is a row here, and a case in `spam/tests/cases`.

mod body;
mod files;
mod header;
mod links;

use super::facts::Facts;

/// A rule.
pub(super) struct SpamRule {
    pub(super) name: &'static str,
    /// Tenths of a point, each time.
    tenths: u32,
    /// How often it counts at most.
    most: u32,
    /// What it looks for, for people.
    pub(super) description: &'static str,
    test: Test,
}

enum Test {
    Once(fn(&Facts<'_, '_>) -> bool),
    Times(fn(&Facts<'_, '_>) -> usize),
}

impl SpamRule {
    const fn new(
        name: &'static str,
        tenths: u32,
        description: &'static str,
        test: fn(&Facts<'_, '_>) -> bool,
    ) -> Self {
        Self { name, tenths, most: 1, description, test: Test::Once(test) }
    }

    /// The tenths of a point that a message gets.
    pub(super) fn points(&self, facts: &Facts<'_, '_>) -> u32 {
        let times = match self.test {
            Test::Once(matches) => u32::from(matches(facts)),
            Test::Times(count) => u32::try_from(count(facts)).unwrap_or(u32::MAX).min(self.most),
        };
        times * self.tenths
    }

    /// The points as documentation tells them.
    #[cfg(test)]
    pub(super) fn told(&self) -> String {
        let points = super::points(self.tenths);
        if self.most == 1 {
            return format!("{points}");
        }
        format!("{points} each, {} at most", super::points(self.tenths * self.most))
    }
}

/// Every rule, in the order of the documentation.
pub(super) fn all() -> impl Iterator<Item = &'static SpamRule> {
    [header::RULES, body::RULES, links::RULES, files::RULES].into_iter().flatten()
}
