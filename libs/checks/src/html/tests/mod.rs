//! The data, the matchers and the score, over mails made of the matchers' examples.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod known_faults;
mod scores;

use std::{collections::BTreeSet, fmt::Write as _};

use trapline_model::{HtmlReport, SupportLevel};

use super::{check, clients, data::Dataset, matchers::rows};
use crate::pages;

/// A mail with that HTML.
fn mail(html: &str) -> Vec<u8> {
    format!("MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}")
        .into_bytes()
}

fn judge(html: &str) -> HtmlReport {
    check(&mail(html), &clients(Dataset::builtin(), &[]).unwrap(), Dataset::builtin())
}

/// The features that a message uses, by the scan.
fn used(raw: &[u8]) -> BTreeSet<&'static str> {
    let view = trapline_mime::View::read(raw);
    let mut uses = super::scan::scan(view.html().unwrap(), &super::part_types(&view));
    super::beside_html(&view, &mut uses);
    let features = Dataset::builtin().features.iter().zip(&uses.by_feature);
    features.filter(|(_, seen)| seen.count > 0).map(|(feature, _)| feature.slug.as_str()).collect()
}

fn used_in(html: &str) -> BTreeSet<&'static str> {
    used(&mail(html))
}

/// Features that others cannot be used without: a selector stands in a style sheet, an image in an element.
fn carriers(slug: &str) -> Vec<&'static str> {
    let of_sheet = ["css-pseudo-", "css-selector-", "css-at-", "css-nesting"];
    let mut carriers = Vec::new();
    if of_sheet.iter().any(|start| slug.starts_with(start)) {
        carriers.extend(["html-style", "css-selector-type", "css-selector-class"]);
    }
    if slug.starts_with("css-at-media-") {
        carriers.push("css-at-media");
    }
    if slug.starts_with("css-display-") {
        carriers.push("css-display");
    }
    if slug.starts_with("image-") {
        carriers.push("html-img");
    }
    carriers
}

/// A mail that uses the feature of a row, and as little else as can be.
fn example(slug: &str, html: &str) -> Vec<u8> {
    match slug {
        "amp" => b"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/x-amp-html\r\n\r\n\
            a\r\n--b\r\nContent-Type: text/html\r\n\r\na\r\n--b--\r\n"
            .to_vec(),
        "bimi" => [&b"BIMI-Selector: v=BIMI1; s=a\r\n"[..], &mail("a")].concat(),
        _ => mail(html),
    }
}

#[test]
fn every_example_uses_its_feature_and_nothing_else() {
    let mut wrong = Vec::new();
    for row in rows() {
        let found = used(&example(row.slug, row.example));
        let carriers = carriers(row.slug);
        let beside: Vec<_> =
            found.iter().filter(|slug| **slug != row.slug && !carriers.contains(slug)).collect();
        if !found.contains(row.slug) || !beside.is_empty() {
            wrong.push(format!("{}: {found:?}", row.slug));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_client_has_the_letter_of_its_last_listed_version() {
    let data: &Dataset = Dataset::builtin();
    let all = clients(Dataset::builtin(), &[]).unwrap();
    for row in rows() {
        let report = check(&example(row.slug, row.example), &all, data);
        let feature = data.features.iter().find(|feature| feature.slug == row.slug).unwrap();
        let lacks = |support| matches!(support, SupportLevel::No | SupportLevel::Partial);
        let is_lacked = data
            .clients
            .iter()
            .zip(&feature.cells)
            .any(|(client, cell)| client.weight > 0.0 && lacks(cell.support));
        let issue = report.issues.iter().find(|issue| issue.slug == row.slug);
        assert_eq!(issue.is_some(), is_lacked, "{}", row.slug);
        let Some(issue) = issue else { continue };
        assert_eq!(issue.by_client.len(), data.clients.len());
        for (told, cell) in issue.by_client.iter().zip(&feature.cells) {
            assert_eq!(told.support, cell.support, "{} {}", row.slug, told.client);
            assert_eq!(told.version.as_deref().unwrap_or_default(), cell.version);
        }
    }
}

#[test]
fn places_are_lines_and_columns_of_the_html() {
    let report = judge(
        "<p>é</p>\n <b style=\"x:y;border-radius:4px\">\n<style>\n a{x:y;\n box-shadow:none}</style>",
    );
    let places = |slug: &str| {
        let issue = report.issues.iter().find(|issue| issue.slug == slug).unwrap();
        issue.locations.iter().map(|place| (place.line, place.column)).collect::<Vec<_>>()
    };
    assert_eq!(places("css-border-radius"), [(2, 16)]);
    assert_eq!(places("css-box-shadow"), [(5, 2)]);
}

#[test]
fn a_message_without_html_has_no_score() {
    let report = check(
        b"Subject: a\r\n\r\nHello",
        &clients(Dataset::builtin(), &[]).unwrap(),
        Dataset::builtin(),
    );
    assert_eq!((report.score, report.clients.len(), report.issues.len()), (None, 0, 0));
    assert_eq!(report.dataset.features, 307);
}

#[test]
fn clients_are_chosen_by_id_and_by_family() {
    assert_eq!(clients(Dataset::builtin(), &["gmail", "outlook.windows"]).unwrap().len(), 5);
    assert_eq!(clients(Dataset::builtin(), &["outlook.windows", "lotus"]), Err("lotus"));
}

#[test]
fn images_have_the_format_of_their_part_type_or_ending() {
    let raw = b"Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n\
        <img src='cid:a@b'><b style=\"background:url('https://a/b.AVIF?x')\"></b><img srcset='a.gif 1x, b.bmp 2x'>\r\n\
        --b\r\nContent-Type: image/webp\r\nContent-ID: <a@b>\r\n\r\nx\r\n--b--\r\n";
    let found = used(raw);
    for slug in ["image-webp", "image-avif", "image-gif", "image-bmp"] {
        assert!(found.contains(slug), "{slug}: {found:?}");
    }
    assert!(used_in("<img src='data:image/png;base64,AA'>").contains("image-png"));
}

#[test]
fn hostile_pages_are_read_in_time_linear_in_their_length() {
    let pieces = [
        "<div style='",
        "<p ",
        "<style>",
        "a{",
        "<style>a{b:c(",
        "<!--[if mso]>",
        "{",
        "(",
        "<b a=b ",
        "/*",
        "a>",
        "<![if",
        ":not(",
        "@media(",
        "&{",
        "<style>@a{",
    ];
    // Steps would be millions of millions if any of these were quadratic: the test would never end.
    for piece in pieces {
        let page = piece.repeat((1 << 18) / piece.len());
        judge(&page);
        judge(&format!("<style>{page}"));
    }
}

/// `UPDATE_DOCS=1 cargo test -p trapline-checks` writes the lists of the page.
#[test]
fn the_page_lists_the_clients_and_the_features() {
    let mut list = String::from("| client | name | weight |\n|---|---|--:|\n");
    for client in &Dataset::builtin().clients {
        let name = format!("{} {}", client.family, client.platform);
        writeln!(list, "| `{}` | {name} | {} |", client.id, client.weight).unwrap();
    }
    pages::holds("html-check.md", "clients", &list);
    let mut list = String::from("| feature | title | impact |\n|---|---|--:|\n");
    for (row, feature) in rows().zip(&Dataset::builtin().features) {
        assert_eq!(row.slug, feature.slug);
        let title = feature.title.replace('<', "&lt;").replace('|', "\\|");
        writeln!(list, "| `{}` | {title} | {} |", row.slug, row.impact).unwrap();
    }
    pages::holds("html-check.md", "features", &list);
}
