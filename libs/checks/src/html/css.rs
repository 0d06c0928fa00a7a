//! Style sheets and style attributes, by one pass over their tokens (CSS Syntax Module Level 3).

use cssparser::{ParseError, Parser, ParserInput, Token};

use super::{
    images::{self, PartTypes},
    matchers::UseKind,
    selector::Selector,
    uses::Uses,
};

/// Blocks within each other that are read; deeper ones are passed over.
const DEPTH: usize = 32;
/// At-rules whose block holds declarations; that of others holds rules.
const DESCRIPTORS: [&str; 5] = ["font-face", "page", "counter-style", "property", "viewport"];

/// Where a text is in the HTML.
#[derive(Clone, Copy)]
pub(super) struct CssPlace {
    /// Bytes from the start of the HTML.
    pub(super) start: usize,
    /// Whether the text stands there as it is. What has character references is at its start as a whole.
    pub(super) is_exact: bool,
}

/// Reads the content of a style element.
pub(super) fn sheet(css: &str, place: CssPlace, parts: &PartTypes, uses: &mut Uses) {
    let mut input = ParserInput::new(css);
    let mut reader = CssReader { place, parts, uses, depth: 0 };
    reader.rules(&mut Parser::new(&mut input), true);
}

/// Reads a style attribute.
pub(super) fn attribute(css: &str, place: CssPlace, parts: &PartTypes, uses: &mut Uses) {
    let mut input = ParserInput::new(css);
    let mut reader = CssReader { place, parts, uses, depth: 0 };
    reader.declarations(&mut Parser::new(&mut input));
}

struct CssReader<'r> {
    place: CssPlace,
    parts: &'r PartTypes,
    uses: &'r mut Uses,
    depth: usize,
}

impl CssReader<'_> {
    /// The next token and its offset in the HTML. Comments are noted.
    fn next<'i>(&mut self, parser: &mut Parser<'i, '_>) -> Option<(Token<'i>, usize)> {
        loop {
            let start = parser.position().byte_index();
            let at = self.place.start + if self.place.is_exact { start } else { 0 };
            match parser.next_including_whitespace_and_comments().ok()? {
                Token::Comment(_) => self.uses.found(UseKind::Special, "css-comments", at),
                token => return Some((token.clone(), at)),
            }
        }
    }

    /// Reads the block that has just begun; one that is too deep is passed over by whoever reads on.
    fn block<'i>(
        &mut self,
        parser: &mut Parser<'i, '_>,
        read: impl FnOnce(&mut Self, &mut Parser<'i, '_>),
    ) {
        if self.depth == DEPTH {
            return;
        }
        self.depth += 1;
        // An error would say that something is left in the block: nothing is.
        drop(parser.parse_nested_block(|inner| {
            read(self, inner);
            Ok::<_, ParseError<'i, ()>>(())
        }));
        self.depth -= 1;
    }

    /// Reads rules up to the end; of keyframes the selectors are none.
    fn rules(&mut self, parser: &mut Parser<'_, '_>, has_selectors: bool) {
        let mut selector = Selector::default();
        while let Some((token, at)) = self.next(parser) {
            match &token {
                Token::AtKeyword(name) => self.at_rule(parser, name, at, false),
                Token::CurlyBracketBlock => {
                    self.block(parser, |reader, inner| reader.declarations(inner));
                }
                token => {
                    if has_selectors {
                        selector.token(token, at, self.uses);
                    }
                    continue;
                }
            }
            selector = Selector::default();
        }
    }

    /// Reads an at-rule after its name; `is_nested` within a rule's block.
    fn at_rule(&mut self, parser: &mut Parser<'_, '_>, name: &str, at: usize, is_nested: bool) {
        self.uses.found(UseKind::AtRule, name, at);
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let is_media = is("media");
        let has_declarations = is_nested || DESCRIPTORS.iter().any(|known| is(known));
        let is_keyframes = name.to_ascii_lowercase().ends_with("keyframes");
        while let Some((token, _)) = self.next(parser) {
            match token {
                Token::ParenthesisBlock if is_media => {
                    self.block(parser, |reader, inner| reader.media_feature(inner));
                }
                Token::CurlyBracketBlock => {
                    self.block(parser, |reader, inner| {
                        if has_declarations {
                            reader.declarations(inner);
                        } else {
                            reader.rules(inner, !is_keyframes);
                        }
                    });
                    return;
                }
                Token::Semicolon => return,
                _ => {}
            }
        }
    }

    fn media_feature(&mut self, parser: &mut Parser<'_, '_>) {
        let mut is_named = false;
        while let Some((token, at)) = self.next(parser) {
            match token {
                Token::Ident(name) if !is_named => {
                    is_named = true;
                    self.uses.found(UseKind::MediaFeature, &name, at);
                }
                Token::ParenthesisBlock => {
                    self.block(parser, |reader, inner| reader.media_feature(inner));
                }
                _ => {}
            }
        }
    }

    /// Reads declarations, and rules among them, up to the end.
    fn declarations(&mut self, parser: &mut Parser<'_, '_>) {
        // What may be the name of a property.
        let mut name = None;
        let mut selector = Selector::default();
        while let Some((token, at)) = self.next(parser) {
            match &token {
                Token::WhiteSpace(_) => {
                    if name.is_none() {
                        selector.token(&token, at, self.uses);
                    }
                    continue;
                }
                Token::AtKeyword(rule) => self.at_rule(parser, rule, at, true),
                Token::Colon => {
                    let Some((Token::Ident(property), at)) = name.take() else {
                        selector.token(&token, at, self.uses);
                        continue;
                    };
                    self.declaration(parser, &property, at);
                }
                Token::CurlyBracketBlock => self.nested(parser, at),
                Token::Semicolon => {}
                Token::Ident(_) if name.is_none() => {
                    name = Some((token, at));
                    continue;
                }
                token => {
                    if let Some((name, at)) = name.take() {
                        selector.token(&name, at, self.uses);
                    }
                    selector.token(token, at, self.uses);
                    continue;
                }
            }
            name = None;
            selector = Selector::default();
        }
    }

    fn nested(&mut self, parser: &mut Parser<'_, '_>, at: usize) {
        self.uses.found(UseKind::Special, "nesting", at);
        self.block(parser, |reader, inner| reader.declarations(inner));
    }

    /// Reads a declaration after its colon. What turns out to be a rule has a block.
    fn declaration(&mut self, parser: &mut Parser<'_, '_>, property: &str, at: usize) {
        let is_custom = property.starts_with("--");
        if is_custom {
            self.uses.found(UseKind::Special, "variables", at);
        } else {
            self.uses.found(UseKind::Property, property, at);
        }
        while let Some((token, at)) = self.next(parser) {
            match &token {
                Token::Semicolon => return,
                Token::CurlyBracketBlock if !is_custom => return self.nested(parser, at),
                token => self.value(parser, token, property, at),
            }
        }
    }

    fn value(&mut self, parser: &mut Parser<'_, '_>, token: &Token<'_>, property: &str, at: usize) {
        match token {
            Token::Ident(word) => {
                self.uses.found(UseKind::Keyword, word, at);
                if word.len() + property.len() < 32 {
                    self.uses.found(UseKind::Value, &format!("{property}={word}"), at);
                }
            }
            Token::Delim('!') => self.uses.found(UseKind::Special, "important", at),
            Token::Dimension { unit, .. } => self.uses.found(UseKind::Unit, unit, at),
            Token::Percentage { .. } => self.uses.found(UseKind::Unit, "%", at),
            Token::UnquotedUrl(url) => images::image(url, self.parts, at, self.uses),
            Token::Function(name) => {
                self.uses.found(UseKind::Function, name, at);
                if name.eq_ignore_ascii_case("var") {
                    self.uses.found(UseKind::Special, "variables", at);
                }
                let is_url = name.eq_ignore_ascii_case("url");
                self.block(parser, |reader, inner| reader.arguments(inner, property, is_url));
            }
            Token::ParenthesisBlock | Token::SquareBracketBlock => {
                self.block(parser, |reader, inner| reader.arguments(inner, property, false));
            }
            _ => {}
        }
    }

    fn arguments(&mut self, parser: &mut Parser<'_, '_>, property: &str, is_url: bool) {
        while let Some((token, at)) = self.next(parser) {
            match &token {
                Token::QuotedString(url) if is_url => {
                    images::image(url, self.parts, at, self.uses);
                }
                token => self.value(parser, token, property, at),
            }
        }
    }
}
