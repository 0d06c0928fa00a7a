//! Address lists (RFC 5322, sections 3.4 and 4.4), as senders really write them.
//!
//! Groups are flattened, routes dropped, comments used as names where there is no other.

use trapline_model::Address;

use crate::charset;
use crate::fields;
use crate::words;

/// The mailboxes of a field's value.
pub(crate) fn parse(value: &[u8]) -> Vec<Address> {
    let value = fields::unfold(value);
    let text = charset::guess(&value);
    let mut parser = Parser { text: &text, ..Parser::default() };
    parser.run();
    parser.found
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

#[derive(Default)]
struct Parser<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    /// Whether the next piece starts a token of its own.
    apart: bool,
    angle: Option<String>,
    comment: String,
    found: Vec<Address>,
}

impl Parser<'_> {
    fn run(&mut self) {
        while let Some(next) = self.text[self.at..].chars().next() {
            // Whoever takes more than one character leaves `at` behind the last one.
            match next {
                '"' => self.quoted(),
                '(' => self.comment(),
                '<' => self.angle(),
                '[' => self.literal(),
                '=' if self.encoded_word() => {}
                other => {
                    self.at += other.len_utf8();
                    self.single(other);
                }
            }
        }
        self.finish();
    }

    fn single(&mut self, char: char) {
        match char {
            ',' | ';' => self.finish(),
            // The phrase was a group's name.
            ':' => self.tokens.clear(),
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

    fn quoted(&mut self) {
        let (text, length) = unquote(&self.text[self.at + 1..]);
        let end = self.at + 1 + length;
        let raw = &self.text[self.at..end];
        let token = self.token();
        token.raw.push_str(raw);
        token.text.push_str(&text);
        self.at = end;
    }

    fn comment(&mut self) {
        let mut depth = 0usize;
        let (inner, end) = until(self.text, self.at, |char| {
            depth += usize::from(char == '(');
            depth -= usize::from(char == ')');
            depth == 0
        });
        if self.comment.is_empty() {
            self.comment = inner.replace('\\', "");
        }
        (self.at, self.apart) = (end, true);
    }

    fn angle(&mut self) {
        let mut quoted = false;
        let (inner, end) = until(self.text, self.at, |char| {
            quoted ^= char == '"';
            char == '>' && !quoted
        });
        self.angle = Some(without_route(inner.trim()).to_owned());
        (self.at, self.apart) = (end, true);
    }

    /// A domain literal may hold colons: `[IPv6:::1]`.
    fn literal(&mut self) {
        let rest = &self.text[self.at..];
        let end = rest.find([']', ',', ';', '<']).filter(|at| rest[*at..].starts_with(']'));
        let literal = &rest[..=end.unwrap_or(0)];
        self.push(literal);
        self.at += literal.len();
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

    fn finish(&mut self) {
        let mut tokens = std::mem::take(&mut self.tokens);
        let comment = decoded(&std::mem::take(&mut self.comment));
        self.apart = false;
        let address = self.angle.take().or_else(|| take_address(&mut tokens));
        let name: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        let name = decoded(&name.join(" "));
        let name = if name.is_empty() { comment } else { name };
        let address = address.unwrap_or_default();
        if !(address.is_empty() && name.is_empty()) {
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

/// What stands between the character at `from` and the unescaped one for which `ends` first holds,
/// or the end; and where the text goes on.
fn until(text: &str, from: usize, mut ends: impl FnMut(char) -> bool) -> (&str, usize) {
    let mut escaped = false;
    for (offset, char) in text[from..].char_indices() {
        if escaped {
            escaped = false;
        } else if char == '\\' {
            escaped = true;
        } else if ends(char) {
            let at = from + offset;
            return (&text[from + 1..at], at + char.len_utf8());
        }
    }
    (&text[from + 1..], text.len())
}

/// The quoted string whose opening quote was just read, and how much it takes.
fn unquote(quoted: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => out.extend(chars.next().map(|(_, next)| next)),
            '"' => return (out, at + 1),
            other => out.push(other),
        }
    }
    (out, quoted.len())
}
