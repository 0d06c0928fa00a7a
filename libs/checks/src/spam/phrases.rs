//! Phrases that mass mail lives on and that mail of applications does without.

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;

/// Sixty phrases in eight languages, lower-case. They are our own; none is a single word.
pub(super) const PHRASES: [&str; 60] = [
    "100% free",
    "act now",
    "as seen on tv",
    "be your own boss",
    "buy direct",
    "cash bonus",
    "claim your prize",
    "congratulations you won",
    "dear friend",
    "double your income",
    "earn extra cash",
    "earn money from home",
    "eliminate debt",
    "financial freedom",
    "get rich quick",
    "guaranteed winner",
    "hot singles",
    "lose weight fast",
    "lowest price ever",
    "make money fast",
    "miracle cure",
    "no credit check",
    "no strings attached",
    "once in a lifetime",
    "risk free investment",
    "this is not spam",
    "you have been selected",
    "you won the lottery",
    "geld verdienen von zuhause",
    "garantierter gewinn",
    "jetzt zugreifen",
    "kredit ohne schufa",
    "sie haben gewonnen",
    "schnell reich werden",
    "argent facile",
    "gagnez de l'argent",
    "offre exclusive réservée",
    "perdez du poids",
    "vous avez gagné",
    "crédit sans justificatif",
    "dinero fácil",
    "gane dinero desde casa",
    "has sido seleccionado",
    "pierda peso rápido",
    "préstamo sin aval",
    "dinheiro fácil",
    "ganhe dinheiro em casa",
    "você foi selecionado",
    "emagreça rápido",
    "guadagna da casa",
    "hai vinto un premio",
    "soldi facili",
    "prestito senza garanzie",
    "легкие деньги",
    "заработок без вложений",
    "вы выиграли приз",
    "кредит без отказа",
    "恭喜您中奖",
    "轻松赚钱",
    "在家赚钱",
];

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let escaped: Vec<_> = PHRASES.iter().map(|phrase| regex::escape(phrase)).collect();
    Regex::new(&escaped.join("|")).ok()
});

/// How many different phrases are in `texts`, as words of their own.
pub(super) fn count(texts: &[&str]) -> usize {
    let Some(pattern) = &*PATTERN else { return 0 };
    let mut found = HashSet::new();
    for text in texts {
        let text = folded(text);
        for phrase in pattern.find_iter(&text) {
            let before = text[..phrase.start()].chars().next_back();
            let after = text[phrase.end()..].chars().next();
            if !(continues(before) || continues(after)) {
                found.insert(phrase.as_str().to_owned());
            }
        }
    }
    found.len()
}

/// Whether a phrase runs on into that character; scripts without blanks do so always.
fn continues(char: Option<char>) -> bool {
    char.is_some_and(|char| char.is_alphanumeric() && char < '\u{2E80}')
}

/// Lower-case, with one blank for white space and none for the punctuation of a sentence.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !matches!(char, ',' | '!' | '.' | '?' | ':') {
            match char {
                '’' => out.push('\''),
                char => out.extend(char.to_lowercase()),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_words_of_their_own_and_count_once() {
        assert_eq!(count(&["Act now! ACT  NOW.", "exact nowhere", "您好，恭喜您中奖了"]), 2);
        assert!(PHRASES.iter().all(|phrase| folded(phrase) == *phrase));
        assert!(PATTERN.is_some());
    }
}
