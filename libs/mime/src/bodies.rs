//! Which leaf is the text, which the HTML, which an attachment.

use crate::limits;
use crate::structure::{Leaf, Structure};

/// The leaves by their role: the texts are the inline `text/plain` parts, the HTML is the first
/// inline `text/html` part, every other leaf is an attachment. Nothing is made from anything else.
pub(crate) struct Bodies<'m, 'a> {
    pub(crate) texts: Vec<&'m Leaf<'a>>,
    pub(crate) html: Option<&'m Leaf<'a>>,
    /// At most [`limits::ATTACHMENTS`].
    pub(crate) attachments: Vec<&'m Leaf<'a>>,
    /// Whether there were more.
    pub(crate) more_attachments: bool,
}

impl<'m, 'a> Bodies<'m, 'a> {
    pub(crate) fn of(structure: &'m Structure<'a>) -> Self {
        let mut bodies = Self {
            texts: Vec::new(),
            html: None,
            attachments: Vec::new(),
            more_attachments: false,
        };
        for leaf in &structure.leaves {
            match (leaf.head.media_type(), leaf.head.is_attachment()) {
                ("text/plain", false) => bodies.texts.push(leaf),
                ("text/html", false) if bodies.html.is_none() => bodies.html = Some(leaf),
                _ if bodies.attachments.len() < limits::ATTACHMENTS => {
                    bodies.attachments.push(leaf);
                }
                _ => bodies.more_attachments = true,
            }
        }
        bodies
    }

    /// The texts joined, each on lines of its own; none when the message has no text.
    pub(crate) fn text(&self) -> Option<String> {
        let mut texts = self.texts.iter().map(|leaf| leaf.text());
        let mut joined = texts.next()?;
        for text in texts {
            if !(joined.is_empty() || joined.ends_with('\n')) {
                joined.push('\n');
            }
            joined.push_str(&text);
        }
        Some(joined)
    }
}
