//! One-time codes: what a person would type from the message into a form.
//!
//! What looks like a code is scored by the words around it and by how it is set apart; only what a
//! person would hardly doubt is returned.

mod candidates;
mod mask;
mod score;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use crate::limits;
use crate::visible::{self, Visible};

use score::Context;

/// A piece of the message, as its reader sees it.
struct Source {
    text: String,
    /// Pieces that are set apart by their style.
    styled: Vec<Range<usize>>,
    is_subject: bool,
}

/// The codes of a message, the likeliest first; at most [`limits::CODES`].
pub(crate) fn find(subject: &str, text: Option<&str>, html: Option<&str>) -> Vec<String> {
    let sources = sources(subject, text, html);
    // One pass over the texts settles it for most mail.
    if !sources.iter().any(|source| score::may_speak_of_codes(&source.text)) {
        return Vec::new();
    }
    let contexts: Vec<Context> = sources.into_iter().map(Context::new).collect();
    if !contexts.iter().any(Context::speaks_of_codes) {
        return Vec::new();
    }
    let named = contexts.iter().any(Context::names_codes);
    let mut found: Vec<(&str, i32)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (value, score) in contexts.iter().flat_map(|context| context.scored(named)) {
        let at = *places.entry(value).or_insert(found.len());
        match found.get_mut(at) {
            Some((_, best)) => *best = score.max(*best),
            None => found.push((value, score)),
        }
    }
    // Stable: of equals the first in the message wins.
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    found.truncate(limits::CODES);
    found.into_iter().map(|(value, _)| value.to_owned()).collect()
}

fn sources(subject: &str, text: Option<&str>, html: Option<&str>) -> Vec<Source> {
    let plain = |text: &str, is_subject| Source {
        text: tidy(limits::cut(text, limits::EXTRACTION)),
        styled: Vec::new(),
        is_subject,
    };
    let mut sources = vec![plain(subject, true)];
    sources.extend(text.map(|text| plain(text, false)));
    sources.extend(html.map(|html| {
        let Visible { mut text, styled } = visible::text(limits::cut(html, limits::HTML));
        text.truncate(limits::cut(&text, limits::EXTRACTION).len());
        Source { text, styled, is_subject: false }
    }));
    sources
}

/// Lines trimmed, empty ones left out, so that distances count words and not layout.
fn tidy(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut out = String::with_capacity(text.len());
    for line in lines {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}
