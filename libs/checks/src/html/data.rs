//! What "Can I email" knows of mail clients, in our slim form: see `data/refresh.py`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde::Deserialize;
use trapline_model::SupportLevel;

const JSON_LINES: &str = include_str!("../../data/caniemail.jsonl");
/// Features that a client must be tested for to count in the overall score.
const TESTED: usize = 200;

/// The data set.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The day of its last change.
    pub(super) updated_at: String,
    /// By id.
    pub(super) clients: Vec<ClientData>,
    /// By slug.
    pub(super) features: Vec<Feature>,
    /// Slugs of the file that nothing matches.
    left_out: Vec<String>,
}

/// A mail client on a platform.
#[derive(Debug, Clone)]
pub(super) struct ClientData {
    /// Family and platform, as in `outlook.windows`.
    pub(super) id: String,
    pub(super) family: String,
    pub(super) platform: String,
    /// How much it counts in the overall score.
    pub(super) weight: f64,
}

impl ClientData {
    /// The name for people.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.family, self.platform)
    }
}

/// A feature of HTML, CSS or image formats.
#[derive(Debug, Clone)]
pub(super) struct Feature {
    pub(super) slug: String,
    pub(super) title: String,
    /// The data set's name of the group.
    pub(super) category: String,
    /// The group: `html`, `css`, `image` or `others`.
    pub(super) group: String,
    /// For each client what its last listed version does.
    pub(super) cells: Vec<Cell>,
    /// Notes by their numbers.
    pub(super) notes: BTreeMap<String, String>,
}

/// What a client does with a feature.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) support: SupportLevel,
    /// The last listed version; `""` when the client was not tested.
    pub(super) version: String,
    /// Numbers of notes.
    pub(super) notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataHead {
    pub(super) updated_at: String,
    pub(super) families: BTreeMap<String, String>,
    pub(super) platforms: BTreeMap<String, String>,
    pub(super) categories: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(super) struct FeatureLine {
    pub(super) slug: String,
    pub(super) title: String,
    pub(super) category: String,
    pub(super) support: BTreeMap<String, String>,
    pub(super) notes: BTreeMap<String, String>,
}

impl Dataset {
    /// The data set that the executable has. A test reads it, so that it is never empty.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static DATASET: LazyLock<Dataset> = LazyLock::new(|| {
            read(JSON_LINES).map_or(NOTHING, |(head, lines)| of_lines(head, lines))
        });
        &DATASET
    }

    /// Features of an operator's file for which this release has no matcher.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

const NOTHING: Dataset = Dataset {
    updated_at: String::new(),
    clients: Vec::new(),
    features: Vec::new(),
    left_out: Vec::new(),
};

/// The lines of the slim form, or which one is wrong.
pub(super) fn read(text: &str) -> Result<(DataHead, Vec<FeatureLine>), (usize, serde_json::Error)> {
    let mut lines = text.lines();
    let head =
        serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| (1, error))?;
    let line = |(at, line)| serde_json::from_str(line).map_err(|error| (at, error));
    Ok((head, (2..).zip(lines).map(line).collect::<Result<_, _>>()?))
}

fn of_lines(head: DataHead, lines: Vec<FeatureLine>) -> Dataset {
    let ids: BTreeSet<_> = lines.iter().flat_map(|line| line.support.keys().cloned()).collect();
    let features: Vec<_> = lines.into_iter().map(|line| feature(line, &head, &ids)).collect();
    let clients = ids.iter().enumerate().map(|(at, id)| client(id, at, &head, &features)).collect();
    Dataset { updated_at: head.updated_at, clients, features, left_out: Vec::new() }
}

/// What lines say of the features `known`, at the places that these have.
pub(super) fn aligned(head: DataHead, lines: Vec<FeatureLine>, known: &[Feature]) -> Dataset {
    let mut lines: BTreeMap<_, _> =
        lines.into_iter().map(|line| (line.slug.clone(), line)).collect();
    let line = |feature: &Feature| {
        lines.remove(&feature.slug).unwrap_or_else(|| FeatureLine {
            slug: feature.slug.clone(),
            title: feature.title.clone(),
            category: feature.group.clone(),
            support: BTreeMap::new(),
            notes: BTreeMap::new(),
        })
    };
    let kept = known.iter().map(line).collect();
    Dataset { left_out: lines.into_keys().collect(), ..of_lines(head, kept) }
}

fn feature(line: FeatureLine, head: &DataHead, ids: &BTreeSet<String>) -> Feature {
    let category = head.categories.get(&line.category).unwrap_or(&line.category).clone();
    let cells =
        ids.iter().map(|id| line.support.get(id).map(|text| cell(text)).unwrap_or_default());
    Feature {
        cells: cells.collect(),
        slug: line.slug,
        title: line.title,
        category,
        group: line.category,
        notes: line.notes,
    }
}

/// Reads a cell such as `2022-02 y #1`.
fn cell(text: &str) -> Cell {
    let mut words = text.split(' ');
    let version = words.next().unwrap_or_default().to_owned();
    let support = match words.next() {
        Some("y") => SupportLevel::Yes,
        Some("a") => SupportLevel::Partial,
        Some("n") => SupportLevel::No,
        _ => SupportLevel::Unknown,
    };
    let notes = words.map(|note| note.trim_start_matches('#').to_owned()).collect();
    Cell { support, version, notes }
}

fn client(id: &str, at: usize, head: &DataHead, features: &[Feature]) -> ClientData {
    let (family, platform) = id.split_once('.').unwrap_or((id, ""));
    let tested = features.iter().filter(|feature| feature.cells[at].support.is_known()).count();
    let name = |names: &BTreeMap<String, String>, key: &str| {
        names.get(key).cloned().unwrap_or_else(|| key.to_owned())
    };
    ClientData {
        id: id.to_owned(),
        family: name(&head.families, family),
        platform: name(&head.platforms, platform),
        weight: if tested >= TESTED { 1.0 } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_that_of_the_named_version() {
        let data = Dataset::builtin();
        assert_eq!((data.features.len(), data.clients.len()), (307, 48));
        assert_eq!(data.updated_at, "2026-05-13");
        let weighted = data.clients.iter().filter(|client| client.weight > 0.0);
        assert_eq!(weighted.count(), 41);
        let groups = |name| data.features.iter().filter(|f| f.group == name).count();
        assert_eq!(["css", "html", "image", "others"].map(groups), [215, 76, 14, 2]);
    }

    #[test]
    fn a_cell_keeps_all_its_notes() {
        let found = cell("16.80 a #1 #10");
        assert_eq!((found.support, found.version.as_str()), (SupportLevel::Partial, "16.80"));
        assert_eq!(found.notes, ["1", "10"]);
        assert_eq!(cell("1 u").support, SupportLevel::Unknown);
    }
}
