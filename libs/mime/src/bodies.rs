//! Which leaf is the text, which the HTML, which an attachment.

use crate::limits;
use crate::structure::{Leaf, Structure};

/// What the ids of alternatives start with; those of attachments are bare numbers.
pub(crate) const ALTERNATIVE: &str = "a";

/// The leaves by their role: the texts are the inline `text/plain` parts, the HTML is the first
/// inline `text/html` part, a further form of the body is an alternative, every other leaf is an
/// attachment. Nothing is made from anything else.
///
/// A text that has a file name is an attachment. It is a body too where it comes first in its
/// multipart (RFC 8621, section 4.1.4) or is an alternative.
pub(crate) struct Bodies<'m, 'a> {
    pub(crate) texts: Vec<&'m Leaf<'a>>,
    pub(crate) html: Option<&'m Leaf<'a>>,
    /// At most [`limits::ATTACHMENTS`].
    pub(crate) attachments: Vec<&'m Leaf<'a>>,
    /// At most [`limits::ATTACHMENTS`].
    pub(crate) alternatives: Vec<&'m Leaf<'a>>,
    /// Whether there were more of either.
    pub(crate) more_attachments: bool,
}

impl<'m, 'a> Bodies<'m, 'a> {
    pub(crate) fn of(structure: &'m Structure<'a>) -> Self {
        let mut bodies = Self {
            texts: Vec::new(),
            html: None,
            attachments: Vec::new(),
            alternatives: Vec::new(),
            more_attachments: false,
        };
        for leaf in &structure.leaves {
            let is_body = bodies.take(leaf);
            if is_body && !leaf.has_filename() {
                continue;
            }
            let is_alternative = !is_body && leaf.is_alternative();
            let list =
                if is_alternative { &mut bodies.alternatives } else { &mut bodies.attachments };
            if list.len() < limits::ATTACHMENTS {
                list.push(leaf);
            } else {
                bodies.more_attachments = true;
            }
        }
        bodies
    }

    /// The attachment or alternative that `id` names.
    pub(crate) fn listed(&self, id: &str) -> Option<&'m Leaf<'a>> {
        let (list, number) = match id.strip_prefix(ALTERNATIVE) {
            Some(number) => (&self.alternatives, number),
            None => (&self.attachments, id),
        };
        list.get(number.parse::<usize>().ok()?.checked_sub(1)?).copied()
    }

    /// Takes `leaf` as a body, if it is one.
    fn take(&mut self, leaf: &'m Leaf<'a>) -> bool {
        let leads = leaf.place.index == 0 || leaf.place.is_alternative;
        if leaf.head.is_attachment() || (!leads && leaf.has_filename()) {
            return false;
        }
        match leaf.head.media_type() {
            "text/plain" => self.texts.push(leaf),
            "text/html" if self.html.is_none() => self.html = Some(leaf),
            _ => return false,
        }
        true
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
