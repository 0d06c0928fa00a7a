//! How mail clients show the HTML of a message, by what "Can I email" knows of them.

mod css;
mod data;
mod images;
mod issues;
mod matchers;
mod places;
mod replace;
mod scan;
mod score;
mod selector;
mod uses;

#[cfg(test)]
mod tests;

use trapline_mime::View;
use trapline_model::{HtmlCheckInfo, HtmlDataset, HtmlReport, MailClient};

use crate::{HTML, cut};
pub use data::Dataset;
use matchers::UseKind;
use score::Totals;
use uses::Uses;

/// The client that conditional comments are for.
const OUTLOOK: &str = "outlook.windows";

/// What the check is made with.
#[must_use]
pub fn overview(data: &Dataset) -> HtmlCheckInfo {
    let client = |client: &data::ClientData| MailClient {
        id: client.id.clone(),
        name: client.name(),
        family: client.family.clone(),
        platform: client.platform.clone(),
        weight: client.weight,
    };
    HtmlCheckInfo { dataset: source(data), clients: data.clients.iter().map(client).collect() }
}

/// The clients of `data` that `names` are: ids, or families for all of a family's clients. All when there are none.
///
/// # Errors
///
/// The first name that no client or family has.
pub fn clients<'n>(data: &Dataset, names: &[&'n str]) -> Result<Vec<usize>, &'n str> {
    let all = &data.clients;
    let mut chosen = vec![names.is_empty(); all.len()];
    for name in names {
        let mut is_known = false;
        for (client, chosen) in all.iter().zip(&mut chosen) {
            let family = client.id.split('.').next().unwrap_or_default();
            if client.id == *name || family == *name {
                (*chosen, is_known) = (true, true);
            }
        }
        if !is_known {
            return Err(*name);
        }
    }
    Ok((0..all.len()).filter(|at| chosen[*at]).collect())
}

/// How `clients`, which [`clients`] gave of the same data, show a message.
#[must_use]
pub fn check(raw: &[u8], clients: &[usize], data: &Dataset) -> HtmlReport {
    let view = View::read(raw);
    let Some(whole) = view.html() else { return without_html(data) };
    let html = cut(whole, HTML);
    let mut uses = scan::scan(html, &part_types(&view));
    beside_html(&view, &mut uses);
    report(html, html.len() < whole.len(), &uses, clients, data)
}

fn report(
    html: &str,
    truncated: bool,
    uses: &Uses,
    clients: &[usize],
    data: &Dataset,
) -> HtmlReport {
    let scores: Vec<_> = clients.iter().map(|at| score::of_client(*at, uses, data)).collect();
    let totals = Totals::of(clients, uses, data);
    HtmlReport {
        score: Some(rounded(score::overall(&scores))),
        supported: Some(rounded(totals.supported)),
        partial: Some(rounded(totals.partial)),
        unsupported: Some(rounded(totals.unsupported)),
        unknown: Some(rounded(totals.unknown)),
        truncated,
        dataset: source(data),
        issues: issues::list(html, clients, uses, data),
        clients: scores
            .into_iter()
            .map(|client| trapline_model::ClientScore { score: rounded(client.score), ..client })
            .collect(),
    }
}

fn without_html(data: &Dataset) -> HtmlReport {
    HtmlReport {
        score: None,
        supported: None,
        partial: None,
        unsupported: None,
        unknown: None,
        truncated: false,
        dataset: source(data),
        clients: Vec::new(),
        issues: Vec::new(),
    }
}

fn source(data: &Dataset) -> HtmlDataset {
    HtmlDataset {
        name: "Can I email".to_owned(),
        url: "https://www.caniemail.com/".to_owned(),
        license: "MIT".to_owned(),
        updated_at: data.updated_at.clone(),
        features: data.features.len(),
    }
}

/// The media types of parts that the HTML may show, by their Content-ID.
fn part_types(view: &View<'_>) -> images::PartTypes {
    let typed = |part: trapline_mime::PartView<'_>| {
        Some((part.content_id()?.to_owned(), part.media_type().to_owned()))
    };
    view.parts().filter_map(typed).collect()
}

/// What a message uses beside its HTML.
fn beside_html(view: &View<'_>, uses: &mut Uses) {
    if view.parts().any(|part| part.media_type() == "text/x-amp-html") {
        uses.found(UseKind::Special, "amp", 0);
    }
    if view.fields("BIMI-Selector").next().is_some() {
        uses.found(UseKind::Special, "bimi", 0);
    }
}

/// To two digits, for people.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
