//! Right and wrong of many mails.

use std::fmt;

/// Counts of codes, and of mails with and without one.
#[derive(Default)]
pub(super) struct Score {
    right: u32,
    wrong: u32,
    missed: u32,
    with: u32,
    first: u32,
    without: u32,
    empty: u32,
}

impl Score {
    pub(super) fn add(&mut self, wanted: &[String], found: &[String]) {
        let count = |codes: &[String], others: &[String], is_in: bool| {
            let codes = codes.iter().filter(|code| others.contains(code) == is_in).count();
            u32::try_from(codes).unwrap()
        };
        self.right += count(found, wanted, true);
        self.wrong += count(found, wanted, false);
        self.missed += count(wanted, found, false);
        if let Some(first) = wanted.first() {
            self.with += 1;
            self.first += u32::from(found.first() == Some(first));
        } else {
            self.without += 1;
            self.empty += u32::from(found.is_empty());
        }
    }

    /// Of the codes that were found, how many are some.
    pub(super) fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    /// Of the codes that there are, how many were found.
    pub(super) fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }

    /// The harmonic mean of both.
    fn f1(&self) -> f64 {
        share(2 * self.right, 2 * self.right + self.wrong + self.missed)
    }

    /// Of the mails with a code, how many have it first in their list.
    pub(super) fn first(&self) -> f64 {
        share(self.first, self.with)
    }

    /// Of the mails without a code, how many have an empty list.
    pub(super) fn empty(&self) -> f64 {
        share(self.empty, self.without)
    }

    /// The mails, and the figures of a row, in the order of [`Score::HEAD`].
    pub(super) fn row(&self) -> String {
        let share = |value: f64| format!("{value:.3}");
        let figures = [self.precision(), self.recall(), self.f1(), self.first(), self.empty()];
        let figures: Vec<_> = figures.into_iter().map(share).collect();
        format!("{} | {}", self.with + self.without, figures.join(" | "))
    }

    pub(super) const HEAD: &str = "mails | precision | recall | F1 | first | empty";
}

/// A share of nothing is whole: nothing was wrong.
fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 1.0 } else { f64::from(part) / f64::from(whole) }
}

impl fmt::Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", Self::HEAD, self.row())
    }
}
