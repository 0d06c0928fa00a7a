//! Address lists (RFC 5322, sections 3.4 and 4.4), as senders really write them.
//!
//! Groups are flattened, routes dropped, comments used as names where there is no other.

use std::collections::HashMap;

use trapline_model::Address;

use crate::charset;
use crate::fields;
use crate::limits;
use crate::warnings::{Fault, ParseWarnings};
use crate::words;

/// The longest domain literal, in bytes: a name's bound by RFC 5321, section 4.5.3.1.2.
const LITERAL: usize = 255;
/// The longest address with its route, in bytes.
const ANGLE: usize = 2_048;

/// The mailboxes of a field's value, and whether it broke the grammar.
pub(crate) fn parse(value: &[u8]) -> (Vec<Address>, ParseWarnings) {
    let value = fields::unfold(value);
    let text = charset::guess(&value);
    let mut parser = Parser { text: &text, ..Parser::default() };
    parser.run();
    (parser.found, parser.faults)
}

/// What stands between two blanks.
#[derive(Default)]
struct Token {
    /// As written.
    raw: String,
    /// Without quotes.
    text: String,
    /// Whether an unquoted `@` is in it.
    has_at: bool,
}

impl Token {
    fn may_be_address(&self) -> bool {
        self.has_at || self.text.contains('@')
    }
}

#[derive(Default)]
struct Parser<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    /// Whether the next piece starts a token of its own.
    apart: bool,
    /// What was in angle brackets, and how many tokens came before.
    angle: Option<(String, usize)>,
    comment: String,
    /// Where each comment ends; made when the first one starts.
    comments: Option<HashMap<usize, usize>>,
    /// Whether a quote was met that never closes: those after it are characters as others.
    unquoted: bool,
    /// Names without an address since the last mailbox: a comma may be part of a name.
    names: Vec<String>,
    found: Vec<Address>,
    faults: ParseWarnings,
}

impl Parser<'_> {
    fn run(&mut self) {
        while let Some(next) = self.text[self.at..].chars().next() {
            // Whoever takes more than one character leaves `at` behind the last one.
            let taken = match next {
                '"' => self.quoted(),
                '(' => self.comment(),
                '<' => self.angle(),
                '[' => self.literal(),
                '=' => self.encoded_word(),
                _ => false,
            };
            if !taken {
                self.at += next.len_utf8();
                self.single(next);
            }
        }
        self.finish(None);
        self.settle_names();
    }

    fn single(&mut self, char: char) {
        match char {
            ',' | ';' => self.finish(Some(char)),
            '>' => self.faults.add(Fault::MalformedAddress),
            // The phrase was a group's name; what came before an address is that one's.
            ':' => self.tokens.truncate(self.angle.as_ref().map_or(0, |(_, before)| *before)),
            blank if blank.is_whitespace() => self.apart = true,
            other => {
                let mut buffer = [0; 4];
                self.push(other.encode_utf8(&mut buffer));
                self.token().has_at |= other == '@';
            }
        }
    }

    fn token(&mut self) -> &mut Token {
        if self.apart || self.tokens.is_empty() {
            self.tokens.push(Token::default());
            self.apart = false;
        }
        let last = self.tokens.len() - 1;
        &mut self.tokens[last]
    }

    fn push(&mut self, text: &str) {
        let token = self.token();
        token.raw.push_str(text);
        token.text.push_str(text);
    }

    fn quoted(&mut self) -> bool {
        let end = (!self.unquoted).then(|| closing_quote(&self.text[self.at + 1..])).flatten();
        let Some(length) = end else {
            self.unquoted = true;
            self.faults.add(Fault::MalformedAddress);
            self.at += 1;
            return true;
        };
        let raw = &self.text[self.at..self.at + length + 2];
        let token = self.token();
        token.raw.push_str(raw);
        token.text.push_str(&unescaped(&raw[1..=length]));
        self.at += raw.len();
        true
    }

    /// A comment that never closes is none.
    fn comment(&mut self) -> bool {
        let (text, at) = (self.text, self.at);
        let comments = self.comments.get_or_insert_with(|| comments(text, at));
        let Some(end) = comments.get(&at).copied() else {
            self.faults.add(Fault::MalformedAddress);
            return false;
        };
        if self.comment.is_empty() {
            self.comment = text[at + 1..end].replace('\\', "");
        }
        (self.at, self.apart) = (end + 1, true);
        true
    }

    fn angle(&mut self) -> bool {
        let rest = &self.text[self.at + 1..];
        let (length, closed) = self.angle_end(limits::cut(rest, ANGLE));
        self.faults.add_if(!closed, Fault::MalformedAddress);
        let spec = without_route(rest[..length].trim()).to_owned();
        match self.angle.take() {
            // A comma was left out: what came after the first address is the name of this one.
            Some((first, before)) if first.contains('@') && spec.contains('@') => {
                let names = self.tokens.split_off(before);
                self.angle = Some((first, before));
                self.faults.add(Fault::MalformedAddress);
                self.finish(None);
                self.tokens = names;
                self.angle = Some((spec, self.tokens.len()));
            }
            // Whatever is no address in angle brackets is part of the name.
            Some((first, before)) if first.contains('@') => {
                self.apart = true;
                self.push(&spec);
                self.angle = Some((first, before));
            }
            first => {
                self.apart = true;
                if let Some((first, _)) = first.filter(|(first, _)| !first.is_empty()) {
                    self.push(&first);
                }
                self.angle = Some((spec, self.tokens.len()));
            }
        }
        (self.at, self.apart) = (self.at + 1 + length + usize::from(closed), true);
        true
    }

    /// Where the angle brackets whose content `rest` starts with end, and whether they are closed. Those
    /// that are not end at the next mailbox.
    fn angle_end(&mut self, rest: &str) -> (usize, bool) {
        let mut quoted = false;
        let mut bytes = rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' if quoted => drop(bytes.next()),
                b'"' => quoted = !(quoted || self.unquoted),
                b'>' if !quoted => return (at, true),
                b'<' if !quoted => break,
                _ => {}
            }
        }
        self.unquoted |= quoted;
        match rest.find(['<', '>', ',', ';']) {
            Some(at) => (at, rest[at..].starts_with('>')),
            None => (rest.len(), false),
        }
    }

    /// A domain literal may hold colons: `[IPv6:::1]`.
    fn literal(&mut self) -> bool {
        let rest = limits::cut(&self.text[self.at..], LITERAL);
        let end = rest[1..].find([']', '[', ',', ';', '<']);
        let end = end.filter(|at| rest[at + 1..].starts_with(']')).map_or(0, |at| at + 1);
        let literal = &rest[..=end];
        self.push(literal);
        self.at += literal.len();
        true
    }

    /// An encoded word may hold commas that are not encoded.
    fn encoded_word(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(word) = words::length(rest.as_bytes()).and_then(|length| rest.get(..length))
        else {
            return false;
        };
        self.push(word);
        self.at += word.len();
        true
    }

    /// Ends a mailbox. `separator` is what came after it.
    fn finish(&mut self, separator: Option<char>) {
        let mut tokens = std::mem::take(&mut self.tokens);
        let comment = decoded(&std::mem::take(&mut self.comment));
        self.apart = false;
        let angle = self.angle.take().map(|(spec, _)| spec);
        let in_angles = angle.as_ref().is_some_and(|spec| spec.contains('@'));
        if angle.is_none() && separator == Some(',') && !tokens.iter().any(Token::may_be_address) {
            let name = named(&tokens, comment);
            self.names.extend(Some(name).filter(|name| !name.is_empty()));
            return;
        }
        let address = angle.or_else(|| take_address(&mut tokens)).unwrap_or_default();
        let name = named(&tokens, comment);
        if in_angles && !self.names.is_empty() {
            self.faults.add(Fault::MalformedAddress);
            let names = std::mem::take(&mut self.names).into_iter();
            let name = names.chain(Some(name).filter(|name| !name.is_empty()));
            let name = name.collect::<Vec<_>>().join(", ");
            self.found.push(Address { address, name });
            return;
        }
        self.settle_names();
        if !(address.is_empty() && name.is_empty()) {
            self.found.push(Address { address, name });
        }
    }

    /// Takes the names that no address followed for mailboxes of their own.
    fn settle_names(&mut self) {
        for name in std::mem::take(&mut self.names) {
            // One word may be a local user.
            let is_local = !name.contains(char::is_whitespace);
            let (address, name) =
                if is_local { (name, String::new()) } else { (String::new(), name) };
            self.found.push(Address { address, name });
        }
    }
}

/// The token that is an address, where no angle brackets tell: the one with an `@`, or the only one.
fn take_address(tokens: &mut Vec<Token>) -> Option<String> {
    let mark = tokens.iter().rposition(|token| token.has_at);
    let quoted = || tokens.iter().rposition(|token| token.text.contains('@'));
    let only = || (tokens.len() == 1).then_some(0);
    let at = mark.or_else(quoted).or_else(only)?;
    let token = tokens.remove(at);
    Some(if token.has_at { token.raw } else { token.text })
}

fn named(tokens: &[Token], comment: String) -> String {
    let name: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let name = decoded(&name.join(" "));
    if name.is_empty() { comment } else { name }
}

fn decoded(text: &str) -> String {
    words::decode(text.as_bytes()).text.trim().to_owned()
}

/// `@a,@b:user@c` names the hosts to pass (RFC 5322, section 4.4); only the mailbox counts.
fn without_route(spec: &str) -> &str {
    match spec.split_once(':') {
        Some((route, mailbox)) if route.starts_with('@') => mailbox.trim(),
        _ => spec,
    }
}

/// Where each comment from `from` on ends, by where it starts (RFC 5322, section 3.2.2: they nest).
/// All at once, since looking for the end of one that never closes could be repeated for each.
fn comments(text: &str, from: usize) -> HashMap<usize, usize> {
    let (mut ends, mut open) = (HashMap::new(), Vec::new());
    let mut bytes = text.bytes().enumerate().skip(from);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'(' => open.push(at),
            b')' => ends.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    ends
}

/// Where the quoted string whose opening quote was just read closes.
fn closing_quote(quoted: &str) -> Option<usize> {
    let mut bytes = quoted.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// A quoted string's content without the backslashes that quote a character.
fn unescaped(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(char) = chars.next() {
        out.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    out
}
