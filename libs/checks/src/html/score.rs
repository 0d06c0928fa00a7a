//! Scores: what clients lose of a message.

use trapline_model::{ClientScore, SupportLevel};

use super::{OUTLOOK, data::Dataset, matchers::matchers, uses::Uses};

/// The features that a client meets, by their place in the data set.
pub(super) fn met<'u>(
    client: usize,
    uses: &'u Uses,
    data: &'u Dataset,
) -> impl Iterator<Item = usize> + 'u {
    let is_outlook = data.clients[client].id == OUTLOOK;
    let features = uses.by_feature.iter().enumerate();
    features.filter(move |(_, seen)| seen.is_for(is_outlook)).map(|(feature, _)| feature)
}

/// How much of a feature's impact a client loses.
pub(super) fn loss(support: SupportLevel) -> f64 {
    match support {
        SupportLevel::No => 1.0,
        SupportLevel::Partial => 0.5,
        SupportLevel::Yes | SupportLevel::Unknown => 0.0,
    }
}

/// The score of one client, not rounded: of 100, each feature that it lacks takes its share of what the
/// others left.
pub(super) fn of_client(client: usize, uses: &Uses, data: &Dataset) -> ClientScore {
    let impacts = &matchers().impacts;
    let (mut score, mut unsupported, mut partial) = (100.0, 0, 0);
    for feature in met(client, uses, data) {
        let support = data.features[feature].cells[client].support;
        score *= 1.0 - impacts[feature] * loss(support);
        unsupported += usize::from(support == SupportLevel::No);
        partial += usize::from(support == SupportLevel::Partial);
    }
    let known = &data.clients[client];
    ClientScore {
        id: known.id.clone(),
        name: known.name(),
        family: known.family.clone(),
        platform: known.platform.clone(),
        weight: known.weight,
        score,
        unsupported,
        partial,
    }
}

/// The mean of the scores by weight; of clients without weight, the plain mean.
pub(super) fn overall(scores: &[ClientScore]) -> f64 {
    let weight: f64 = scores.iter().map(|client| client.weight).sum();
    if weight > 0.0 {
        return scores.iter().map(|client| client.score * client.weight).sum::<f64>() / weight;
    }
    let (sum, count) =
        scores.iter().fold((0.0, 0.0), |(sum, count), client| (sum + client.score, count + 1.0));
    if count > 0.0 { sum / count } else { 100.0 }
}

/// Shares of pairs of a client and a feature, in percent.
pub(super) struct Totals {
    pub(super) supported: f64,
    pub(super) partial: f64,
    pub(super) unsupported: f64,
    /// Of all pairs; the others are shares of the known ones.
    pub(super) unknown: f64,
}

impl Totals {
    /// Counts the pairs of `clients`, by their weights.
    pub(super) fn of(clients: &[usize], uses: &Uses, data: &Dataset) -> Self {
        let weights = weights(clients, data);
        let (mut yes, mut partial, mut no, mut unknown) = (0.0, 0.0, 0.0, 0.0);
        for (client, weight) in clients.iter().zip(weights) {
            for feature in met(*client, uses, data) {
                match data.features[feature].cells[*client].support {
                    SupportLevel::Yes => yes += weight,
                    SupportLevel::Partial => partial += weight,
                    SupportLevel::No => no += weight,
                    SupportLevel::Unknown => unknown += weight,
                }
            }
        }
        let known = yes + partial + no;
        if known == 0.0 {
            let unknown = if unknown > 0.0 { 100.0 } else { 0.0 };
            return Self { supported: 100.0, partial: 0.0, unsupported: 0.0, unknown };
        }
        let share = |part: f64, of: f64| part / of * 100.0;
        Self {
            supported: share(yes, known),
            partial: share(partial, known),
            unsupported: share(no, known),
            unknown: share(unknown, known + unknown),
        }
    }
}

/// The weights of `clients`; the same for all where none of them has one.
pub(super) fn weights(clients: &[usize], data: &Dataset) -> Vec<f64> {
    let weights: Vec<_> = clients.iter().map(|at| data.clients[*at].weight).collect();
    if weights.iter().sum::<f64>() > 0.0 { weights } else { vec![1.0; weights.len()] }
}
