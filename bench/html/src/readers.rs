//! The two readers, asked for the same: the text, the tags and the attributes, decoded.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use crate::markup::{Token, tokens};
use crate::{entities, visible};

/// What a reading found, so that none of it can be left out by the compiler.
#[derive(Debug, Default, Clone, Copy)]
pub struct Found {
    pub tags: usize,
    pub attributes: usize,
    pub text: usize,
}

/// Ours, with every value and text decoded.
pub fn ours(html: &str) -> Found {
    let mut found = Found::default();
    for token in tokens(html) {
        match token {
            Token::Text(text) => found.text += entities::decode(text).len(),
            Token::Whole(tag, content) => {
                found.tags += 1;
                found.attributes += tag.attributes().map(read).sum::<usize>();
                found.text += content.len();
            }
            Token::Open(tag) => {
                found.tags += 1;
                found.attributes += tag.attributes().map(read).sum::<usize>();
            }
            Token::Close(_) | Token::Doctype(_) => {}
        }
    }
    found
}

fn read((name, value): (&str, &str)) -> usize {
    usize::from(name.len() + entities::decode(value).len() > 0)
}

/// Ours as text and links use it: decoded where it is looked at.
pub fn visible_text(html: &str) -> Found {
    Found { text: visible::text(html).text.len(), ..Found::default() }
}

/// html5gum with events that borrow, its quicker way.
pub fn html5gum_events(html: &str) -> Found {
    let mut found = Found::default();
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
            match event {
                CallbackEvent::OpenStartTag { .. } => found.tags += 1,
                CallbackEvent::AttributeName { .. } => found.attributes += 1,
                CallbackEvent::String { value } => found.text += value.len(),
                _ => {}
            }
            None
        });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    found
}

/// html5gum with tokens that own what they hold.
pub fn html5gum_tokens(html: &str) -> Found {
    let mut found = Found::default();
    let mut emitter = html5gum::DefaultEmitter::<()>::new_with_span();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            html5gum::Token::StartTag(tag) => {
                found.tags += 1;
                found.attributes += tag.attributes.len();
            }
            html5gum::Token::String(text) => found.text += text.len(),
            _ => {}
        }
    }
    found
}
