//! Selectors, token by token.

use cssparser::Token;

use super::{matchers::UseKind, uses::Uses};

/// Where a selector is while its tokens are read.
#[derive(Default)]
pub(super) struct Selector {
    /// Simple selectors of the compound that is being read.
    simple: usize,
    /// Whether a blank came after it.
    has_blank: bool,
    /// Whether a dot came last.
    has_dot: bool,
    /// Whether a colon came last.
    has_colon: bool,
}

impl Selector {
    /// Reads the next token; that of a block stands for all of it.
    pub(super) fn token(&mut self, token: &Token<'_>, at: usize, uses: &mut Uses) {
        match token {
            Token::WhiteSpace(_) => self.has_blank = true,
            Token::Comma => self.ends("grouping", at, uses),
            Token::Delim('>') => self.ends("child", at, uses),
            Token::Delim('+') => self.ends("adjacent-sibling", at, uses),
            Token::Delim('~') => self.ends("general-sibling", at, uses),
            Token::Delim('*') => self.simple("universal", at, uses),
            Token::Delim('.') => self.has_dot = true,
            Token::Colon => self.has_colon = true,
            Token::Ident(name) | Token::Function(name) if self.has_colon => {
                self.starts(at, uses);
                self.has_colon = false;
                self.simple += 1;
                uses.found(UseKind::Pseudo, name, at);
            }
            Token::Ident(_) if self.has_dot => {
                self.has_dot = false;
                self.simple("class", at, uses);
            }
            Token::Ident(_) => self.simple("type", at, uses),
            Token::Hash(_) | Token::IDHash(_) => self.simple("id", at, uses),
            Token::SquareBracketBlock => self.simple("attribute", at, uses),
            _ => {}
        }
    }

    /// A compound begins where none is under way.
    fn starts(&mut self, at: usize, uses: &mut Uses) {
        if self.has_blank && self.simple > 0 {
            uses.found(UseKind::Selector, "descendant", at);
            self.simple = 0;
        }
        self.has_blank = false;
    }

    fn simple(&mut self, kind: &str, at: usize, uses: &mut Uses) {
        self.starts(at, uses);
        self.simple += 1;
        uses.found(UseKind::Selector, kind, at);
        if self.simple == 2 {
            uses.found(UseKind::Selector, "chaining", at);
        }
    }

    fn ends(&mut self, combinator: &str, at: usize, uses: &mut Uses) {
        *self = Self::default();
        uses.found(UseKind::Selector, combinator, at);
    }
}
