//! Many mutated messages through every check that needs no service: none panics, hangs or grows, the same bytes get the
//! same reports, and scores are within their bounds. Arguments: how many, and a seed number.

#[path = "../../../tests/fuzz/campaign.rs"]
mod campaign;
#[path = "../../../tests/fuzz/cases.rs"]
mod cases;
#[path = "../../../tests/fuzz/mutation.rs"]
mod mutation;

use std::process::ExitCode;

use mutation::{Mutator, Random};
use trapline_checks::{html, links, signatures, spam, unsubscribe};
use trapline_model::Time;

/// When the messages came, in milliseconds since 1970.
const RECEIVED: i64 = 1_772_442_060_000;

/// Links and images that are looked at.
const LINKS: usize = 2_000;

/// What rules, matchers and fields look for, and what their readers stumble over.
#[rustfmt::skip]
const TOKENS: &[&[u8]] = &[
    b"\r\n", b"\r\n\r\n", b"\0", b"\xFF", b"\xE2\x80\xAE", b"=?utf-8?q?=C3?=", b"=\r\n", b"--BB\r\n", b"Subject: RE: FREE!!!\r\n",
    b"From: \"a@other.test\" <a@example.test>\r\n", b"Reply-To: ", b"Precedence: bulk\r\n", b"List-Id: <a.example>\r\n",
    b"List-Unsubscribe: <https://a.example/u>, <mailto:u@a.example>\r\n", b"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
    b"DKIM-Signature: v=1; a=rsa-sha256; d=a.example; s=s; h=from:list-unsubscribe; bh=AA==; b=AA==\r\n",
    b"Content-Type: text/html; charset=utf-8\r\n\r\n", b"Content-Transfer-Encoding: base64\r\n", b"filename=\"a.pdf.exe\"",
    b"<style>", b"</style>", b"<!--[if mso]>", b"<!--[if !mso]><!-->", b"<![endif]-->", b"<a href=\"", b"</a>", b"<img src=\"data:image/png;base64,",
    b"<script>", b"<svg>", b"<template>", b"<plaintext>", b"<p style=\"display:none;font-size:0\">", b"unsubscribe", b"<table background=\"",
    b"@media (prefers-color-scheme:dark){", b"@import url(", b"@supports(", b"a:not(:has(", b"a>b~c+d{", b"calc(1px + var(--a))", b"\\", b"/*", b"*/", b"{", b"}",
    b"!important;", b"color:oklch(", b"grid-template:", b"--x:{", b"http://1.2.3.4/", b"http://0x7f.1/", b"http://a@xn--e1afmkfd.test/", b"https://bit.ly/a",
    b"javascript:", b"cid:a", b"&#x0;", b"&amp", b"PK\x03\x04", b"MZ",
];

fn main() -> ExitCode {
    campaign::run("checks", &Mutator::new(cases::seeds(), TOKENS), check)
}

#[expect(clippy::expect_used, reason = "without clients nothing is checked")]
fn check(raw: &[u8], random: &mut Random) {
    let data = html::Dataset::builtin();
    let clients = html::clients(data, &[]).expect("all clients are known");
    let (at, threshold) = (Time::from_millis(RECEIVED), 5.0);
    let judged = spam::check(raw, at, threshold, at);
    assert!(judged.score >= 0.0 && judged.is_spam == (judged.score >= threshold), "{judged:?}");
    assert_eq!(judged, spam::check(raw, at, threshold, at));

    let report = html::check(raw, &clients, data);
    assert!(report.score.is_none_or(|score| (0.0..=100.0).contains(&score)), "{report:?}");
    let one = html::check(raw, &[*random.pick(&clients)], data);
    assert_eq!(one.score.is_none(), report.score.is_none());

    // One click is possible exactly where there is an address for it.
    assert_eq!(unsubscribe::one_click(raw).is_some(), unsubscribe::check(raw).one_click);
    let targets = links::targets(raw, None, random.below(2) == 0);
    assert!(targets.is_ok_and(|targets| targets.len() <= LINKS));
    assert!(signatures(raw) <= raw.len());
}
