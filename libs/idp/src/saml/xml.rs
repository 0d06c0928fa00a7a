//! XML that is written in its canonical form (Exclusive XML Canonicalization 1.0, without comments), so that
//! what is signed is the very text that is sent. Nothing else here writes XML.

#[cfg(test)]
mod tests;

/// The namespaces of messages, each with the one prefix that it is written with. A prefix inside a value would
/// not be visibly used, so that canonical XML drops its declaration: there is no `xsi:type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespace {
    /// XML Signature.
    Ds,
    /// Metadata.
    Md,
    /// Assertions.
    Saml,
    /// Protocol messages.
    Samlp,
}

impl Namespace {
    fn prefix(self) -> &'static str {
        match self {
            Self::Ds => "ds",
            Self::Md => "md",
            Self::Saml => "saml",
            Self::Samlp => "samlp",
        }
    }

    pub(crate) fn uri(self) -> &'static str {
        match self {
            Self::Ds => "http://www.w3.org/2000/09/xmldsig#",
            Self::Md => "urn:oasis:names:tc:SAML:2.0:metadata",
            Self::Saml => "urn:oasis:names:tc:SAML:2.0:assertion",
            Self::Samlp => "urn:oasis:names:tc:SAML:2.0:protocol",
        }
    }
}

/// An element with unprefixed attributes.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    namespace: Namespace,
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    pub(crate) children: Vec<Node>,
}

/// What an element holds.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Element(Element),
    Text(String),
    /// A comment of one blank, which canonical XML leaves out.
    Comment,
}

impl Element {
    pub(crate) fn new(namespace: Namespace, name: &'static str) -> Self {
        Self { namespace, name, attributes: Vec::new(), children: Vec::new() }
    }

    /// The element with an attribute, in place of one of the same name.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.attributes.retain(|(known, _)| *known != name);
        self.attributes.push((name, value.into()));
    }

    /// The same where there is a value.
    pub(crate) fn with_some(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The element with one more child.
    pub(crate) fn child(mut self, child: Self) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    pub(crate) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is(&self, namespace: Namespace, name: &str) -> bool {
        self.namespace == namespace && self.name == name
    }

    /// The first child element of this name.
    pub(crate) fn find(&mut self, namespace: Namespace, name: &str) -> Option<&mut Self> {
        self.children.iter_mut().find_map(|child| match child {
            Node::Element(child) if child.is(namespace, name) => Some(child),
            _ => None,
        })
    }

    /// Takes the first child element of this name out.
    pub(crate) fn take(&mut self, namespace: Namespace, name: &str) -> Option<Self> {
        let is_it = |child: &Node| matches!(child, Node::Element(it) if it.is(namespace, name));
        let place = self.children.iter().position(is_it)?;
        match self.children.remove(place) {
            Node::Element(child) => Some(child),
            Node::Text(_) | Node::Comment => None,
        }
    }

    /// The canonical form, which signatures are made of.
    pub(crate) fn canonical(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0, false);
        text
    }

    /// What is sent: the canonical form, and comments where somebody asked for them.
    pub(crate) fn document(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0, true);
        text
    }

    /// `declared` has a bit for each prefix that an element around this one declares.
    fn write(&self, to: &mut String, declared: u8, has_comments: bool) {
        let prefix = self.namespace.prefix();
        let bit = 1 << self.namespace as u8;
        push(to, &["<", prefix, ":", self.name]);
        if declared & bit == 0 {
            push(to, &[" xmlns:", prefix, "=\"", self.namespace.uri(), "\""]);
        }
        let mut attributes: Vec<_> = self.attributes.iter().collect();
        attributes.sort_by_key(|(name, _)| *name);
        for (name, value) in attributes {
            push(to, &[" ", name, "=\""]);
            escape(value, to, attribute_reference);
            to.push('"');
        }
        to.push('>');
        for child in &self.children {
            match child {
                Node::Element(child) => child.write(to, declared | bit, has_comments),
                Node::Text(text) => escape(text, to, text_reference),
                Node::Comment if has_comments => to.push_str("<!-- -->"),
                Node::Comment => {}
            }
        }
        push(to, &["</", prefix, ":", self.name, ">"]);
    }
}

fn push(to: &mut String, parts: &[&str]) {
    for part in parts {
        to.push_str(part);
    }
}

fn text_reference(letter: char) -> Option<&'static str> {
    match letter {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

fn attribute_reference(letter: char) -> Option<&'static str> {
    match letter {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '"' => Some("&quot;"),
        '\t' => Some("&#x9;"),
        '\n' => Some("&#xA;"),
        _ => None,
    }
}

/// Whether XML 1.0 can say it (section 2.2).
fn is_char(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Ends of lines become LF, because not all libraries read a reference to CR as one; what XML cannot say is left
/// out.
fn escape(value: &str, to: &mut String, reference: fn(char) -> Option<&'static str>) {
    let mut letters = value.chars().filter(|letter| is_char(*letter)).peekable();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\r' if letters.peek() == Some(&'\n') => continue,
            '\r' => '\n',
            letter => letter,
        };
        match reference(letter) {
            Some(text) => to.push_str(text),
            None => to.push(letter),
        }
    }
}
