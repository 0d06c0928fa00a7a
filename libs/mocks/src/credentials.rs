//! The credentials that a mock has: names and forms by the provider's table, values by chance.

use std::collections::BTreeMap;

use crate::{Chance, Provider};

/// A credential of a provider.
#[derive(Debug)]
pub struct Credential {
    /// As the API calls it.
    pub name: &'static str,
    /// How its value is made.
    pub make: Make,
}

/// How the value of a credential is made.
#[derive(Debug, Clone, Copy)]
pub enum Make {
    /// A template: `{slug}` is the mock's, `{base62:24}` and `{hex:32}` are so many random letters.
    Text(&'static str),
}

impl Make {
    /// A new value.
    #[must_use]
    pub fn value(self, slug: &str, chance: &Chance) -> String {
        match self {
            Self::Text(template) => text(template, slug, chance),
        }
    }
}

fn text(template: &str, slug: &str, chance: &Chance) -> String {
    let mut rest = template;
    let mut made = String::new();
    while let Some((before, behind)) = rest.split_once('{') {
        made.push_str(before);
        let (word, after) = behind.split_once('}').unwrap_or((behind, ""));
        match word.split_once(':') {
            Some(("base62", count)) => made.push_str(&chance.base62(count.parse().unwrap_or(0))),
            Some(("hex", count)) => made.push_str(&chance.hex(count.parse().unwrap_or(0))),
            _ => made.push_str(slug),
        }
        rest = after;
    }
    made + rest
}

impl Provider {
    /// New values for all credentials.
    #[must_use]
    pub fn new_credentials(&self, slug: &str, chance: &Chance) -> BTreeMap<String, String> {
        let value = |credential: &Credential| credential.make.value(slug, chance);
        self.credentials.iter().map(|one| (one.name.to_owned(), value(one))).collect()
    }

    /// The credential that this word means: its name, or `secretKey` for the main one of every provider.
    #[must_use]
    pub fn credential(&self, word: &str) -> Option<&'static Credential> {
        let named = self.credentials.iter().find(|credential| credential.name == word);
        named.or_else(|| self.credentials.first().filter(|_| word == "secretKey"))
    }
}
