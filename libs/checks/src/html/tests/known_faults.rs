//! What other checks of this kind get wrong, each with the right answer.

use trapline_model::SupportLevel;

use super::{judge, used_in};
use crate::html::{Dataset, check, clients};

fn cell(slug: &str, client: &str) -> (SupportLevel, String, Vec<String>) {
    let data = Dataset::builtin();
    let at = data.clients.iter().position(|known| known.id == client).unwrap();
    let feature = data.features.iter().find(|feature| feature.slug == slug).unwrap();
    let cell = &feature.cells[at];
    (cell.support, cell.version.clone(), cell.notes.clone())
}

#[test]
fn only_the_last_listed_version_counts() {
    // 2019-10 and 2021-01 said yes; 2022-02 says so with a note.
    let (support, version, notes) = cell("amp", "yahoo.desktop-webmail");
    assert_eq!(
        (support, version.as_str(), notes),
        (SupportLevel::Yes, "2022-02", vec!["1".to_owned()])
    );
}

#[test]
fn versions_are_in_the_order_of_the_file() {
    // As text, 16.80 would be before 2019-10, which is the older entry.
    let (_, version, _) = cell("amp", "outlook.macos");
    assert_eq!(version, "16.80");
}

#[test]
fn unknown_support_costs_nothing_and_is_told() {
    let report = judge("<table><tr><td>a</td></tr></table>");
    let client =
        report.clients.iter().find(|client| client.id == "rainloop.desktop-webmail").unwrap();
    assert_eq!((client.score, client.unsupported, client.partial), (100.0, 0, 0));
    assert!(report.unknown.is_some());
}

#[test]
fn a_badly_supported_feature_costs_the_same_beside_many_good_ones() {
    let gmail = clients(Dataset::builtin(), &["gmail.desktop-webmail"]).unwrap();
    let score = |html: &str| check(&super::mail(html), &gmail, Dataset::builtin()).score.unwrap();
    let bad = "<video></video>";
    let good = "<p>a</p><div></div><span></span><b style='color:red;font-size:12px'></b>";
    let both = score(&format!("{}{bad}", good.repeat(40)));
    assert!(score(bad) <= 80.0, "{}", score(bad));
    assert!((both - score(good) * score(bad) / 100.0).abs() < 0.02);
}

#[test]
fn findings_within_conditional_comments_are_for_their_clients() {
    let all = clients(Dataset::builtin(), &[]).unwrap();
    let scores = |html: &str| {
        let report = check(&super::mail(html), &all, Dataset::builtin());
        let score = |id: &str| report.clients.iter().find(|client| client.id == id).unwrap().score;
        (score("outlook.windows"), score("gmail.desktop-webmail"))
    };
    let video = "<video></video>";
    let (outlook, gmail) = scores(video);
    assert!(outlook < 100.0 && gmail < 100.0);
    assert_eq!(scores(&format!("<!--[if mso]>{video}<![endif]-->")), (outlook, 100.0));
    assert_eq!(scores(&format!("<!--[if (gte mso 9)|(IE)]>{video}<![endif]-->")), (outlook, 100.0));
    assert_eq!(scores(&format!("<!--[if !mso]><!-->{video}<!--<![endif]-->")), (100.0, gmail));
    assert_eq!(scores(&format!("<![if !mso]>{video}<![endif]>")), (100.0, gmail));
    assert_eq!(scores(&format!("<!--[if IE]>{video}<![endif]-->")), (100.0, 100.0));
    assert_eq!(scores(&format!("<!--[if !mso]><!-->a<!--<![endif]-->{video}")), (outlook, gmail));
}

#[test]
fn a_remote_style_sheet_is_one_finding() {
    let found = used_in("<link rel=stylesheet href='https://example.com/a.css'>");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["html-link"]);
}

#[test]
fn notes_keep_all_digits_of_their_numbers() {
    let data = Dataset::builtin();
    let mut noted =
        data.features.iter().flat_map(|feature| &feature.cells).flat_map(|cell| &cell.notes);
    assert!(noted.any(|note| note == "10"));
}

#[test]
fn names_are_matched_whole() {
    let found = used_in(
        "<b style='x-border-radius:a;max-width:1px;text-shadowed:a'></b><a class=inert></a>",
    );
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["css-max-width", "css-unit-px"]);
}

#[test]
fn selectors_of_every_kind_are_told_apart() {
    let kinds = |css: &str| {
        let found = used_in(&format!("<style>{css}{{x:y}}</style>"));
        found
            .into_iter()
            .filter_map(|slug| {
                slug.strip_prefix("css-selector-").or_else(|| slug.strip_prefix("css-pseudo-"))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("#a .b > c"), ["child", "class", "descendant", "id", "type"]);
    assert_eq!(kinds("a:hover b::after"), ["class-hover", "element-after", "descendant", "type"]);
    assert_eq!(kinds("a, b"), ["grouping", "type"]);
    assert_eq!(kinds("u + [class*=x]"), ["adjacent-sibling", "attribute", "type"]);
    assert_eq!(kinds("a:not(.b)"), ["class-not", "type"]);
}
