//! The features of a message that clients lack.

use std::collections::BTreeSet;

use trapline_model::{
    ClientSupport, FeatureKind, FeatureNote, HtmlIssue, SupportLevel, SupportShares,
};

use super::{
    OUTLOOK,
    data::{Dataset, Feature},
    matchers::matchers,
    places, rounded, score,
    uses::Uses,
};

/// The issues, those that cost most over all clients first.
pub(super) fn list(html: &str, clients: &[usize], uses: &Uses, data: &Dataset) -> Vec<HtmlIssue> {
    let weights = score::weights(clients, data);
    let weighted: Vec<_> = clients.iter().copied().zip(weights).collect();
    let costs = (0..data.features.len()).map(|at| (cost(at, &weighted, uses, data), at));
    let mut costs: Vec<_> = costs.filter(|(cost, _)| *cost > 0.0).collect();
    costs.sort_by(|(one, first), (other, second)| {
        other.total_cmp(one).then_with(|| first.cmp(second))
    });
    let offsets = costs.iter().flat_map(|(_, at)| uses.by_feature[*at].offsets.iter().copied());
    let located = places::locate(html, offsets.collect());
    let issue = |(_, at): &(f64, usize)| {
        let (feature, seen) = (&data.features[*at], &uses.by_feature[*at]);
        let by_client: Vec<_> =
            clients.iter().map(|client| support(feature, *client, data)).collect();
        HtmlIssue {
            slug: feature.slug.clone(),
            title: feature.title.clone(),
            category: feature.category.clone(),
            kind: kind(&feature.group),
            count: seen.count,
            locations: seen.offsets.iter().filter_map(|at| located.get(at).copied()).collect(),
            url: format!("https://www.caniemail.com/features/{}/", feature.slug),
            impact: matchers().impacts[*at],
            support: shares(feature, &weighted),
            notes: notes(feature, &by_client),
            by_client,
        }
    };
    costs.iter().map(issue).collect()
}

/// What a feature costs those clients that meet it.
fn cost(at: usize, clients: &[(usize, f64)], uses: &Uses, data: &Dataset) -> f64 {
    let seen = &uses.by_feature[at];
    let cells = &data.features[at].cells;
    let meet =
        clients.iter().filter(|(client, _)| seen.is_for(data.clients[*client].id == OUTLOOK));
    let lost = meet.map(|(client, weight)| weight * score::loss(cells[*client].support));
    lost.sum::<f64>() * matchers().impacts[at]
}

fn kind(group: &str) -> FeatureKind {
    match group {
        "html" => FeatureKind::Html,
        "css" => FeatureKind::Css,
        "image" => FeatureKind::Image,
        _ => FeatureKind::Other,
    }
}

fn support(feature: &Feature, client: usize, data: &Dataset) -> ClientSupport {
    let cell = &feature.cells[client];
    ClientSupport {
        client: data.clients[client].id.clone(),
        support: cell.support,
        version: Some(cell.version.clone()).filter(|version| !version.is_empty()),
        notes: cell.notes.clone(),
    }
}

fn shares(feature: &Feature, clients: &[(usize, f64)]) -> SupportShares {
    let of = |support| {
        let cells = clients.iter().filter(|(client, _)| feature.cells[*client].support == support);
        cells.map(|(_, weight)| weight).sum::<f64>()
    };
    let (yes, partial, no) =
        (of(SupportLevel::Yes), of(SupportLevel::Partial), of(SupportLevel::No));
    let known = yes + partial + no;
    let share = |part: f64| if known > 0.0 { rounded(part / known * 100.0) } else { 0.0 };
    SupportShares { yes: share(yes), partial: share(partial), no: share(no) }
}

/// The texts of the notes that clients have, by their number.
fn notes(feature: &Feature, by_client: &[ClientSupport]) -> Vec<FeatureNote> {
    let numbers: BTreeSet<_> = by_client
        .iter()
        .flat_map(|client| &client.notes)
        .map(|number| (number.parse::<u32>().unwrap_or(u32::MAX), number))
        .collect();
    let text = |number: &String| feature.notes.get(number).cloned();
    let note = |(_, number): (u32, &String)| {
        Some(FeatureNote { number: number.clone(), text: text(number)? })
    };
    numbers.into_iter().filter_map(note).collect()
}
