//! Counts tags with html5gum, to compare sizes of binaries.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

fn main() {
    let html = std::io::read_to_string(std::io::stdin()).expect("UTF-8");
    let mut count = 0;
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
            count += match event {
                CallbackEvent::String { value } | CallbackEvent::AttributeValue { value } => {
                    value.len()
                }
                _ => 1,
            };
            None
        });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html.as_str(), emitter).finish();
    println!("{count}");
}
