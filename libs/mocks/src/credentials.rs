//! The credentials that a mock has: names and forms by the provider's table, values by chance.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use trapline_model::Time;

use crate::{Chance, Provider, jws::EcKey};

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
    /// The same; the value before the last one signs beside it for a while.
    Kept(&'static str),
    /// A private key on the curve P-256, in whose place readers see its id.
    P256,
}

/// How long the value before the last one still holds.
const KEPT: Duration = Duration::from_mins(5);
/// What follows the name of a credential in that of the value that it had before.
const BEFORE: char = '~';

impl Make {
    /// A new value.
    #[must_use]
    pub fn value(self, slug: &str, chance: &Chance, now: Time) -> String {
        match self {
            Self::Text(template) | Self::Kept(template) => text(template, slug, chance),
            Self::P256 => EcKey::new_text(chance, now),
        }
    }
}

impl Make {
    /// The slug of the mock in a value of this form; none in another value, or where the form has no slug.
    pub(crate) fn slug_in(self, value: &str) -> Option<&str> {
        match self {
            Self::Text(template) | Self::Kept(template) => slug_in(template, value),
            Self::P256 => None,
        }
    }
}

/// Digits of a slug.
const SLUG_DIGITS: usize = 14;

fn slug_in<'a>(template: &str, value: &'a str) -> Option<&'a str> {
    let (mut template, mut rest, mut slug) = (template, value, None);
    loop {
        let (before, behind) = template.split_once('{').unwrap_or((template, ""));
        rest = rest.strip_prefix(before)?;
        if behind.is_empty() {
            return slug.filter(|_| rest.is_empty());
        }
        let (word, after) = behind.split_once('}')?;
        let count = word.split_once(':').map_or(Some(SLUG_DIGITS), |(_, count)| count.parse().ok());
        let (part, end) = rest.split_at_checked(count?)?;
        if word == "slug" {
            let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
            slug = is_hex.then_some(part);
        }
        (template, rest) = (after, end);
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
    pub fn new_credentials(
        &self,
        slug: &str,
        chance: &Chance,
        now: Time,
    ) -> BTreeMap<String, String> {
        let value = |credential: &Credential| credential.make.value(slug, chance, now);
        self.credentials.iter().map(|one| (one.name.to_owned(), value(one))).collect()
    }

    /// What replaces credentials by new ones: these, and the keys before them, which verifiers may still ask for.
    #[must_use]
    pub fn replaced(
        &self,
        before: &BTreeMap<String, String>,
        mut new: BTreeMap<String, String>,
        now: Time,
    ) -> BTreeMap<String, String> {
        let keys = self.credentials.iter().filter(|it| !matches!(it.make, Make::Text(_)));
        for name in
            keys.map(|key| key.name).filter(|name| new.contains_key(*name)).collect::<Vec<_>>()
        {
            if let Some(key) = before.get(name) {
                new.insert(format!("{name}{BEFORE}"), format!("{} {key}", now.millis()));
            }
        }
        new
    }

    /// Credentials as readers see them: no private key, and no value of before.
    #[must_use]
    pub fn shown(&self, credentials: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let shown = self.credentials.iter().filter_map(|credential| {
            let value = credentials.get(credential.name)?;
            let value = match credential.make {
                Make::Text(_) | Make::Kept(_) => value.clone(),
                Make::P256 => EcKey::of(value)?.id(),
            };
            Some((credential.name.to_owned(), value))
        });
        shown.collect()
    }

    /// The credential that this word means: its name, or `secretKey` for the main one of every provider.
    #[must_use]
    pub fn credential(&self, word: &str) -> Option<&'static Credential> {
        let named = self.credentials.iter().find(|credential| credential.name == word);
        named.or_else(|| self.credentials.first().filter(|_| word == "secretKey"))
    }
}

/// The value that a credential had before the last one, and when it was replaced; none when that was long ago.
fn before<'a>(
    credentials: &'a BTreeMap<String, String>,
    name: &str,
    now: Time,
) -> Option<(&'a str, Time)> {
    let (millis, value) = credentials.get(&format!("{name}{BEFORE}"))?.split_once(' ')?;
    let until = Time::from_millis(millis.parse().ok()?);
    (now <= until.after(KEPT)).then_some((value, until))
}

/// The value that a credential had before the last one, while it still holds.
#[must_use]
pub fn secret_before<'a>(
    credentials: &'a BTreeMap<String, String>,
    name: &str,
    now: Time,
) -> Option<&'a str> {
    before(credentials, name, now).map(|(value, _)| value)
}

/// The public half of the key with this id: that of a credential, or the one that it was until a short time ago.
pub(crate) fn public_key(
    credentials: &BTreeMap<String, String>,
    name: &str,
    id: &str,
    now: Time,
) -> Option<Value> {
    let current = credentials.get(name).map(|text| (text.as_str(), None));
    let before = before(credentials, name, now).map(|(text, until)| (text, Some(until)));
    let keys = [current, before].into_iter().flatten();
    let mut keys = keys.filter_map(|(text, until)| Some((EcKey::of(text)?, until)));
    let (key, until) = keys.find(|(key, _)| key.id() == id)?;
    Some(key.public(until))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_replaced_key_is_given_out_for_a_while() {
        let plaid = crate::find("plaid").unwrap();
        let (now, name) = (Time::from_millis(1_800_000_000_000), "webhookKeyId");
        let made = |seed| plaid.new_credentials("0123456789abcd", &Chance::new([seed; 32]), now);
        let before = made(1);
        let after = plaid.replaced(&before, made(2), now);
        let (old, new) = (plaid.shown(&before), plaid.shown(&after));
        assert!(old.len() == new.len() && old[name] != new[name]);
        assert!(!new[name].contains(&after[name]));
        let found =
            |id: &str, at| public_key(&after, name, id, at).map(|key| key["expired_at"].clone());
        assert_eq!(found(&new[name], now), Some(Value::Null));
        assert_eq!(found(&old[name], now), Some(json!(1_800_000_000)));
        assert_eq!(found(&old[name], now.after(KEPT + Duration::from_millis(1))), None);
        assert_eq!(found("another", now), None);
    }

    #[test]
    fn the_slug_is_found_again() {
        let slug = "0123456789abcd";
        for template in ["AC{hex:18}{slug}", "sk_test_{slug}{base62:24}", "pat-{slug}-{hex:32}"] {
            let make = Make::Text(template);
            let value = make.value(slug, &Chance::new([1; 32]), Time::from_millis(0));
            assert_eq!(make.slug_in(&value), Some(slug), "{value}");
            assert_eq!(make.slug_in(&value[1..]), None);
            assert_eq!(make.slug_in(&format!("{value}0")), None);
        }
        assert_eq!(Make::Text("{hex:32}").slug_in(&"0".repeat(32)), None);
        assert_eq!(Make::Text("sk_{slug}").slug_in("sk_éééééééééééééé"), None);
    }
}
