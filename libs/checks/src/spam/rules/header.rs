//! Rules on the header.

use std::time::Duration;

use super::{super::lists, SpamRule};
use crate::sites;

const DAY: Duration = Duration::from_hours(24);
/// Letters from which on a subject can shout.
const LETTERS: usize = 10;

pub(super) const RULES: &[SpamRule] = &[
    SpamRule::new("FROM_MISSING", 25, "There is no mailbox in From.", |facts| {
        !facts.from.iter().any(|author| author.address.contains('@'))
    }),
    SpamRule::new(
        "FROM_MANY",
        15,
        "There are several From fields, or several authors and no Sender (RFC 5322, section 3.6.2).",
        |facts| {
            facts.view.fields("From").nth(1).is_some()
                || (facts.from.len() > 1 && !facts.has_field("Sender"))
        },
    ),
    SpamRule::new(
        "FROM_NAME_IS_ADDRESS",
        15,
        "The author's name has an address in it that is of another site than the author's own.",
        |facts| {
            let Some(author) = &facts.view.digest().from else { return false };
            let words =
                author.name.split(|c: char| c.is_whitespace() || "<>()\"'[],;:".contains(c));
            let mut named = words.filter_map(sites::of_address).filter(|host| host.contains('.'));
            let own = sites::of_address(&author.address).unwrap_or_default();
            named.any(|host| !sites::is_same(host, own))
        },
    ),
    SpamRule::new(
        "REPLY_TO_ELSEWHERE",
        5,
        "An address of Reply-To is of another site than the author's.",
        |facts| {
            let Some(own) = facts.author_host() else { return false };
            let replies = facts.view.digest().reply_to.iter();
            replies
                .filter_map(|reply| sites::of_address(&reply.address))
                .any(|host| !sites::is_same(host, own))
        },
    ),
    SpamRule::new("DATE_MISSING", 10, "There is no Date.", |facts| facts.warns(&["missing_date"])),
    SpamRule::new("DATE_BAD", 8, "The Date is no date (warning `bad_date`).", |facts| {
        facts.warns(&["bad_date"])
    }),
    SpamRule::new(
        "DATE_OFF",
        10,
        "The Date is more than 24 hours after the mail came, or 7 days before.",
        |facts| {
            let Some(date) = facts.view.digest().date else { return false };
            date.since(facts.received_at) > DAY || facts.received_at.since(date) > 7 * DAY
        },
    ),
    SpamRule::new("MESSAGE_ID_MISSING", 8, "There is no Message-ID.", |facts| {
        !facts.has_field("Message-ID")
    }),
    SpamRule::new(
        "MESSAGE_ID_BAD",
        5,
        "The Message-ID is not `<left@right>` without blanks.",
        |facts| facts.field("Message-ID").is_some_and(|value| !is_message_id(value.trim())),
    ),
    SpamRule::new("SUBJECT_MISSING", 10, "The subject is absent or blank.", |facts| {
        facts.subject().trim().is_empty()
    }),
    SpamRule::new(
        "SUBJECT_CAPS",
        8,
        "Of at least 10 letters of the subject, 80 % or more are capitals.",
        |facts| {
            let letters = facts.subject().chars();
            let letters: Vec<_> =
                letters.filter(|c| c.is_uppercase() || c.is_lowercase()).collect();
            let capitals = letters.iter().filter(|char| char.is_uppercase()).count();
            letters.len() >= LETTERS && capitals * 5 >= letters.len() * 4
        },
    ),
    SpamRule::new(
        "SUBJECT_SHOUTS",
        7,
        "The subject has `!!`, `??`, `$$`, or three or more exclamation marks.",
        |facts| {
            let subject = facts.subject().replace('！', "!").replace('？', "?");
            let repeats = ["!!", "??", "$$"].iter().any(|mark| subject.contains(mark));
            repeats || subject.matches('!').count() >= 3
        },
    ),
    SpamRule::new(
        "SUBJECT_FAKE_REPLY",
        8,
        "The subject begins like that of a reply or a forward, and there is neither In-Reply-To nor References.",
        |facts| {
            let is_reply = facts.has_field("In-Reply-To") || facts.has_field("References");
            starts_reply(facts.subject()) && !is_reply
        },
    ),
    SpamRule::new(
        "HEADER_8BIT",
        10,
        "The header has 8-bit bytes (warning `eight_bit_header`).",
        |facts| facts.warns(&["eight_bit_header"]),
    ),
    SpamRule::new(
        "HEADER_REPEATED",
        5,
        "A field that may appear once is repeated (warning `repeated_header`).",
        |facts| facts.warns(&["repeated_header"]),
    ),
];

fn is_message_id(value: &str) -> bool {
    let inner = value.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| {
        let sides = inner.split_once('@');
        let is_clean = !inner.contains(|c: char| c.is_whitespace() || c == '<' || c == '>');
        is_clean && sides.is_some_and(|(left, right)| !left.is_empty() && !right.is_empty())
    })
}

/// Whether a subject begins with `Re:`, `Fwd[2]:` and the like.
fn starts_reply(subject: &str) -> bool {
    let Some((mark, _)) = subject.trim_start().split_once([':', '：']) else { return false };
    let mark = mark.trim_end().trim_end_matches(|c: char| "[]()0123456789".contains(c)).trim_end();
    let mark = mark.to_lowercase();
    lists::REPLIES.contains(&mark.as_str())
}
