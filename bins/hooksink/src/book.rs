//! The calls that came: counted, and their lines kept as far as there is room.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
};

use serde::Serialize;

use crate::{call::Call, clocks};

/// Calls that are told apart; beyond them `distinct` does not grow.
const DISTINCT: usize = 2_000_000;

/// All that came so far.
#[derive(Debug)]
pub(crate) struct Book {
    room: usize,
    lines: String,
    unkept: u64,
    requests: u64,
    seen: HashSet<u64>,
    hasher: RandomState,
    first: Option<u64>,
    last: Option<u64>,
}

/// The counts, as `GET /stats` gives them.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    /// Calls of all endpoints.
    requests: u64,
    /// The same without those that named the endpoint and subject of an earlier one.
    distinct: usize,
    /// Calls without a line in the log.
    unkept: u64,
    /// When the first came, in nanoseconds since 1970.
    first: Option<u64>,
    /// When the last came.
    last: Option<u64>,
    /// CPU time of this program in milliseconds.
    cpu_ms: u64,
}

impl Book {
    /// Keeps up to `room` bytes of lines.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            room,
            lines: String::new(),
            unkept: 0,
            requests: 0,
            seen: HashSet::new(),
            hasher: RandomState::new(),
            first: None,
            last: None,
        }
    }

    /// Adds a call.
    pub(crate) fn add(&mut self, call: &Call<'_>) {
        self.requests += 1;
        self.first.get_or_insert(call.at);
        self.last = Some(call.at);
        if self.seen.len() < DISTINCT {
            self.seen.insert(self.hasher.hash_one((call.path, call.subject)));
        }
        let line = call.line();
        if self.lines.len() + line.len() <= self.room {
            self.lines.push_str(&line);
        } else {
            self.unkept += 1;
        }
    }

    /// The lines, oldest first.
    pub(crate) fn lines(&self) -> &str {
        &self.lines
    }

    /// The counts.
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            requests: self.requests,
            distinct: self.seen.len(),
            unkept: self.unkept,
            first: self.first,
            last: self.last,
            cpu_ms: clocks::cpu_ms(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(at: u64, path: &'static str, subject: &'static str) -> Call<'static> {
        Call { at, path, delivery: "d", subject }
    }

    #[test]
    fn repeats_are_counted_once_as_distinct() {
        let mut book = Book::new(1000);
        for (at, path, subject) in
            [(1, "/200/a", "x"), (2, "/200/a", "x"), (3, "/200/b", "x"), (4, "/200/a", "y")]
        {
            book.add(&call(at, path, subject));
        }
        let stats = book.stats();
        assert_eq!((stats.requests, stats.distinct, stats.unkept), (4, 3, 0));
        assert_eq!((stats.first, stats.last), (Some(1), Some(4)));
    }

    #[test]
    fn lines_end_where_the_room_does() {
        let mut book = Book::new(20);
        book.add(&call(1, "/200", "x"));
        book.add(&call(2, "/200", "y"));
        assert_eq!(book.lines(), "1 /200 d x\n");
        assert_eq!((book.stats().requests, book.stats().unkept), (2, 1));
    }
}
