//! Rules on the text and the HTML.

use std::collections::HashSet;

use super::{
    super::{facts::Facts, phrases},
    SpamRule, Test,
};
use crate::words;

/// Different words from which on two parts can be compared, and letters that such a word has.
const COMPARED_WORDS: usize = 20;
const COMPARED_LETTERS: usize = 4;
/// Bytes at which Gmail cuts a message.
const CLIPPED: usize = 102_400;
/// Bytes of HTML in which little text is little.
const SCARCE: usize = 4_096;
/// The generic test of unsolicited bulk mail, which every filter knows.
const GTUBE: &str = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";

pub(super) const RULES: &[SpamRule] = &[
    SpamRule::new(
        "MIME_BROKEN",
        8,
        "The structure is broken (warnings `malformed_header`, `missing_boundary`, `missing_closing_boundary`, `bad_base64`, `bad_quoted_printable`, `bad_encoding`).",
        |facts| {
            facts.warns(&[
                "malformed_header",
                "missing_boundary",
                "missing_closing_boundary",
                "bad_base64",
                "bad_quoted_printable",
                "bad_encoding",
            ])
        },
    ),
    SpamRule::new(
        "CHARSET_UNDECLARED",
        4,
        "A text names no charset, or one that nobody knows (warnings `eight_bit_without_charset`, `unknown_charset`).",
        |facts| facts.warns(&["eight_bit_without_charset", "unknown_charset"]),
    ),
    SpamRule::new(
        "LINES_BAD",
        3,
        "Lines are too long or end wrongly (warnings `line_too_long`, `bare_lf`, `bare_cr`, `nul_byte`).",
        |facts| facts.warns(&["line_too_long", "bare_lf", "bare_cr", "nul_byte"]),
    ),
    SpamRule::new("HTML_ONLY", 7, "There is an HTML part and no text part.", |facts| {
        facts.html.is_some() && facts.text.is_none()
    }),
    SpamRule::new(
        "TEXT_DIFFERS",
        6,
        "Of at least 20 longer words of the text part, under half are in the HTML's visible text.",
        differs,
    ),
    SpamRule::new(
        "TEXT_SCARCE",
        5,
        "The HTML is over 4 kB, and under 2 % of it is visible text.",
        |facts| {
            let Some(html) = facts.html else { return false };
            html.len() > SCARCE && facts.shown.len() * 50 < html.len()
        },
    ),
    SpamRule::new(
        "IMAGE_ONLY",
        18,
        "There is an image larger than 1 × 1, and under 20 words of visible text.",
        |facts| facts.page.has_image && facts.shown_words < 20,
    ),
    SpamRule::new(
        "TEXT_HIDDEN",
        12,
        "More than 30 words are hidden by their style; a preview text at the start does not count.",
        |facts| facts.page.hidden_words > 30,
    ),
    SpamRule::new("TEXT_TINY", 6, "More than 10 words are 3 to 7 pixels high.", |facts| {
        facts.page.tiny_words > 10
    }),
    SpamRule::new(
        "HTML_CLIPPED",
        3,
        "The HTML is over 102,400 bytes, which Gmail cuts.",
        |facts| facts.view.html().is_some_and(|html| html.len() > CLIPPED),
    ),
    SpamRule::new(
        "SCRIPT",
        15,
        "There is a script, an `on…` attribute or a `javascript:` target.",
        |facts| facts.page.has_script,
    ),
    SpamRule::new("EMBED", 10, "There is an iframe, object, embed or applet.", |facts| {
        facts.page.has_embed
    }),
    SpamRule::new("FORM", 8, "There is a form.", |facts| facts.page.has_form),
    SpamRule::new(
        "REFRESH",
        15,
        "The page leads on by itself (`meta http-equiv=refresh`).",
        |facts| facts.page.has_refresh,
    ),
    SpamRule::new(
        "BASE64_ASCII",
        5,
        "A text part is in base64, and all of it is printable ASCII.",
        is_needlessly_base64,
    ),
    SpamRule {
        name: "PHRASES",
        tenths: 3,
        most: 6,
        description: "Subject and visible text have phrases that mass mail lives on.",
        test: Test::Times(|facts| phrases::count(&[facts.subject(), &facts.shown])),
    },
    SpamRule::new("GTUBE", 10_000, "The body has the generic test string.", |facts| {
        [facts.text, facts.html].into_iter().flatten().any(|body| body.contains(GTUBE))
    }),
];

fn differs(facts: &Facts<'_, '_>) -> bool {
    let (Some(text), Some(_)) = (facts.text, facts.html) else { return false };
    // Targets of links are in the text part only.
    let plain: String = text
        .split_whitespace()
        .filter(|word| !word.contains("://"))
        .flat_map(|w| [w, " "])
        .collect();
    let (plain, shown) = (plain.to_lowercase(), facts.shown.to_lowercase());
    let long = |word: &&str| word.chars().count() >= COMPARED_LETTERS;
    let words: HashSet<_> = words::of(&plain).filter(long).collect();
    let shown: HashSet<_> = words::of(&shown).filter(long).collect();
    words.len() >= COMPARED_WORDS && words.intersection(&shown).count() * 2 < words.len()
}

fn is_needlessly_base64(facts: &Facts<'_, '_>) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let mut texts = facts.view.parts().filter(|part| {
        part.is_base64() && !part.is_attachment() && part.media_type().starts_with("text/")
    });
    texts.any(|part| {
        let bytes = part.bytes();
        !bytes.is_empty() && bytes.iter().all(is_plain)
    })
}
