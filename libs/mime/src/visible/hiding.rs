//! What is hidden, while tags open and close.

use super::elements::{self, is_any};
use super::style::Style;
use crate::markup::Tag;

/// Elements within each other of which each changes what is seen; the state of a deeper one is that
/// of the element around it.
const DEPTH: usize = 32;

/// Why text is not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    /// For good, until the element ends.
    is_gone: bool,
    /// `font-size: 0`, which an element within may change. Senders take the gaps between columns
    /// away with it.
    has_no_size: bool,
    /// `visibility: hidden`, which an element within may change too.
    is_invisible: bool,
}

/// An element with a state of its own.
struct Scope<'a> {
    name: &'a str,
    /// How many elements of that name are open, this one included.
    open: usize,
    state: State,
    /// The containers that were open when it started.
    containers: usize,
}

/// Follows the tags of a page.
#[derive(Default)]
pub(super) struct Hiding<'a> {
    scopes: Vec<Scope<'a>>,
    /// `svg` and `math` elements that are open.
    foreign: usize,
    /// Tables and lists that are open.
    containers: usize,
}

impl<'a> Hiding<'a> {
    /// Whether text is hidden where the reader is.
    pub(super) fn is_on(&self) -> bool {
        self.state() != State::default()
    }

    /// Whether nothing is there at all, so that the text before and after is next to each other.
    pub(super) fn takes_no_room(&self) -> bool {
        self.state().is_gone
    }

    fn state(&self) -> State {
        self.scopes.last().map(|scope| scope.state).unwrap_or_default()
    }

    /// Whether nothing that is to be read is in the element.
    pub(super) fn is_empty(&self, tag: &Tag<'_>) -> bool {
        elements::is_empty(tag, self.foreign > 0)
    }

    /// Ends what cannot hold the element `name`, which starts here.
    pub(super) fn before_start(&mut self, name: &str) {
        if self.scopes.is_empty() {
            return;
        }
        self.end_paragraph_at(name);
        let ended = elements::ended_by(name);
        let containers = self.containers;
        self.end(|scope| scope.containers == containers && is_any(scope.name, ended));
    }

    fn end_paragraph_at(&mut self, name: &str) {
        if elements::ends_paragraph(name) {
            self.end(|scope| scope.name.eq_ignore_ascii_case("p"));
        }
    }

    /// Reads the start of an element that is not empty.
    pub(super) fn open(&mut self, tag: &Tag<'a>, style: &Style) {
        for scope in self.scopes.iter_mut().filter(|scope| tag.is(scope.name)) {
            scope.open += 1;
        }
        let outer = self.state();
        let is_gone = outer.is_gone
            || style.hides_all()
            || elements::is_not_rendered(tag.name, self.foreign > 0);
        let state = State {
            is_gone,
            has_no_size: style.has_size.map_or(outer.has_no_size, |has_size| !has_size),
            is_invisible: style.is_visible.map_or(outer.is_invisible, |is_visible| !is_visible),
        };
        if state != outer && !outer.is_gone && self.scopes.len() < DEPTH {
            self.scopes.push(Scope { name: tag.name, open: 1, state, containers: self.containers });
        }
        self.foreign += usize::from(elements::is_foreign_root(tag.name));
        self.containers += usize::from(elements::is_container(tag.name));
    }

    /// Ends a paragraph that ends with the element `name`, which ends here.
    pub(super) fn before_end(&mut self, name: &str) {
        if !self.scopes.is_empty() && !name.eq_ignore_ascii_case("p") {
            self.end_paragraph_at(name);
        }
    }

    /// Reads the end of an element.
    pub(super) fn close(&mut self, name: &str) {
        if elements::is_foreign_root(name) {
            self.foreign = self.foreign.saturating_sub(1);
        }
        if elements::is_container(name) {
            self.containers = self.containers.saturating_sub(1);
        }
        for scope in self.scopes.iter_mut().filter(|scope| scope.name.eq_ignore_ascii_case(name)) {
            scope.open -= 1;
        }
        self.end(|scope| scope.open == 0);
    }

    /// Ends the outermost scope for which `ends` holds, and all within it.
    fn end(&mut self, ends: impl Fn(&Scope<'_>) -> bool) {
        if let Some(at) = self.scopes.iter().position(ends) {
            self.scopes.truncate(at);
        }
    }
}
