//! Properties of the score.

use proptest::{prelude::*, sample::subsequence};
use trapline_model::SupportLevel;

use super::{Dataset, judge, mail};
use crate::html::{check, clients, matchers::rows};

fn examples() -> Vec<(&'static str, &'static str)> {
    rows().filter(|row| !row.example.is_empty()).map(|row| (row.slug, row.example)).collect()
}

fn some() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    subsequence(examples(), 0..8)
}

fn page(parts: &[(&str, &str)]) -> String {
    parts.iter().map(|(_, html)| *html).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_score_is_of_the_set_of_features_alone(mut parts in some(), times in 1_usize..3) {
        let report = judge(&page(&parts));
        let score = report.score.unwrap();
        prop_assert!((0.0..=100.0).contains(&score));
        parts.reverse();
        let again = parts.repeat(times);
        let other = judge(&page(&again));
        prop_assert_eq!(other.score, report.score);
        prop_assert_eq!(other.clients, report.clients);
    }

    #[test]
    fn narrowing_to_one_client_gives_its_score(parts in some(), at in 0_usize..48) {
        let html = page(&parts);
        let all = judge(&html);
        let one = check(&mail(&html), &[at], Dataset::builtin());
        prop_assert_eq!(one.score, all.clients.get(at).map(|client| client.score));
        prop_assert_eq!(&one.clients[..], &all.clients[at..=at]);
    }

    #[test]
    fn an_unsupported_feature_always_lowers_the_score(parts in some(), at in 0_usize..48, more in 0_usize..300) {
        let all = examples();
        let (slug, html) = all[more % all.len()];
        prop_assume!(!parts.iter().any(|(known, _)| *known == slug));
        let feature = Dataset::builtin().features.iter().find(|feature| feature.slug == slug).unwrap();
        let support = feature.cells[at].support;
        let score = |html: &str| check(&mail(html), &[at], Dataset::builtin()).clients[0].score;
        let (before, after) = (score(&page(&parts)), score(&format!("{}\n{html}", page(&parts))));
        prop_assert!(after <= before);
        let is_new = !super::used_in(&page(&parts)).contains(slug);
        if is_new && matches!(support, SupportLevel::No | SupportLevel::Partial) {
            prop_assert!(after < before, "{slug}: {before} {after}");
        }
    }

    #[test]
    fn any_page_is_judged(html in "([<>/='\"{}();:@!&. -]|style|<style>|</style>|<b style=\"|<!--\\[if mso\\]>|<!\\[endif\\]-->|url\\(){0,60}") {
        prop_assert!(judge(&html).score.is_some());
    }
}

#[test]
fn clients_are_named_as_the_data_does() {
    let report = check(
        &mail("<p>a</p>"),
        &clients(Dataset::builtin(), &["outlook.windows"]).unwrap(),
        Dataset::builtin(),
    );
    let client = &report.clients[0];
    assert_eq!((client.name.as_str(), client.family.as_str()), ("Outlook Windows", "Outlook"));
}
