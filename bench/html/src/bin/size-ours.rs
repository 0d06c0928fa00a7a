//! Counts tags with our reader, to compare sizes of binaries.
#![expect(dead_code, reason = "what other readers need")]

#[path = "../../../../libs/mime/src/entities/mod.rs"]
mod entities;
#[path = "../../../../libs/mime/src/markup.rs"]
mod markup;

fn main() {
    let html = std::io::read_to_string(std::io::stdin()).expect("UTF-8");
    let count = |token: markup::Token<'_>| match token {
        markup::Token::Text(text) => entities::decode(text).len(),
        markup::Token::Open(tag) => tag.attribute("href").map_or(1, |href| href.len()),
        _ => 1,
    };
    println!("{}", markup::tokens(&html).map(count).sum::<usize>());
}
