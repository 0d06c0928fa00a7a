//! What is kept of a call: no credential, no cookie, no number of a real card.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::Provider;

/// Headers that hold secrets, whatever is in them.
const SECRET_HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];
/// Characters that are kept at each end of a secret.
const KEPT: usize = 4;
/// Headers that are kept of a call, and bytes of each.
const MAX_HEADERS: usize = 64;
const MAX_HEADER: usize = 4 << 10;

/// The headers as they are kept: the mock's own credentials by their names, others' secrets by their ends.
#[must_use]
pub fn redacted_headers(
    headers: &[(String, String)],
    credentials: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let one = |(name, value): &(String, String)| {
        let value: String = value.chars().take(MAX_HEADER).collect();
        let shown = without_credentials(&value, credentials);
        let is_secret = SECRET_HEADERS.contains(&name.as_str()) || name.ends_with("-secret");
        let value = if is_secret && shown == value { ends(&value) } else { shown };
        (name.clone(), value)
    };
    headers.iter().take(MAX_HEADERS).map(one).collect()
}

/// A body as it is kept.
#[must_use]
pub fn redacted_body(
    body: &str,
    provider: &Provider,
    credentials: &BTreeMap<String, String>,
) -> String {
    without_cards(&without_credentials(body, credentials), provider)
}

/// Whether a call carries a real secret of the provider, by the way in which these begin.
#[must_use]
pub fn has_live_key(provider: &Provider, headers: &[(String, String)], body: &[u8]) -> bool {
    let has = |text: &[u8]| {
        provider.live.iter().any(|begin| memmem::find(text, begin.as_bytes()).is_some())
    };
    has(body) || headers.iter().any(|(_, value)| has(value.as_bytes()))
}

fn without_credentials(text: &str, credentials: &BTreeMap<String, String>) -> String {
    let mut shown = text.to_owned();
    for (name, value) in credentials.iter().filter(|(_, value)| value.len() >= 2 * KEPT) {
        shown = shown.replace(value.as_str(), &format!("‹{name}›"));
    }
    shown
}

fn ends(secret: &str) -> String {
    let letters: Vec<_> = secret.chars().collect();
    if letters.len() < 4 * KEPT {
        return "…".to_owned();
    }
    let (head, tail) = (&letters[..KEPT], &letters[letters.len() - KEPT..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// Hides the middle of card numbers (13 to 19 digits with a right check digit) that are no test numbers.
fn without_cards(text: &str, provider: &Provider) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, behind) = rest.split_at(start);
        let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, after) = behind.split_at(end);
        shown.push_str(before);
        if is_card(digits) && !is_known(digits, provider) {
            let (head, tail) = (&digits[..6], &digits[digits.len() - 4..]);
            shown = shown + head + &"*".repeat(digits.len() - 10) + tail;
        } else {
            shown.push_str(digits);
        }
        rest = after;
    }
    shown + rest
}

/// Test numbers are public, and what tests look for.
fn is_known(digits: &str, provider: &Provider) -> bool {
    const GOOD: [&str; 4] =
        ["4242424242424242", "5555555555554444", "378282246310005", "4000056655665556"];
    GOOD.contains(&digits)
        || provider.declines.iter().any(|decline| decline.triggers.contains(&digits))
}

/// The check digit of ISO/IEC 7812-1.
fn is_card(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            let doubled = digit * 2;
            if place % 2 == 0 { digit } else { doubled / 10 + doubled % 10 }
        })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn credentials() -> BTreeMap<String, String> {
        BTreeMap::from([("secretKey".to_owned(), "sk_test_0123456789".to_owned())])
    }

    #[test]
    fn secrets_of_headers_are_hidden() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let cases = [
            (header("authorization", "Bearer sk_test_0123456789"), "Bearer ‹secretKey›"),
            (header("authorization", "Bearer sk_live_another_one"), "Bear…_one"),
            (header("cookie", "a=b"), "…"),
            (header("plaid-secret", "0123456789abcdef0123456789abcd"), "0123…abcd"),
            (header("accept", "*/*"), "*/*"),
        ];
        for (given, wanted) in cases {
            let shown = redacted_headers(&[given], &credentials());
            assert_eq!(shown[0].1, wanted);
        }
        let many = vec![header("a", &"b".repeat(10_000)); 100];
        let shown = redacted_headers(&many, &credentials());
        assert_eq!((shown.len(), shown[0].1.len()), (MAX_HEADERS, MAX_HEADER));
    }

    #[test]
    fn cards_are_hidden_but_for_test_numbers() {
        let stripe = crate::find("stripe").unwrap();
        let cases = [
            ("number=4111111111111111&x=1", "number=411111******1111&x=1"),
            ("number=4242424242424242", "number=4242424242424242"),
            ("number=4000000000009995", "number=4000000000009995"),
            ("number=4111111111111112", "number=4111111111111112"),
            ("at 1795814161 sk_test_0123456789", "at 1795814161 ‹secretKey›"),
        ];
        for (body, wanted) in cases {
            assert_eq!(redacted_body(body, stripe, &credentials()), wanted);
        }
        assert!(has_live_key(stripe, &[], b"key=sk_live_1"));
        assert!(!has_live_key(stripe, &[], b"key=sk_test_1"));
    }
}
