//! What "Can I email" knows of mail clients, in our slim form: see `data/refresh.py`.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use trapline_model::SupportLevel;

const JSON_LINES: &str = include_str!("../../data/caniemail.jsonl");
/// Features that a client must be tested for to count in the overall score.
const TESTED: usize = 200;

/// The data set.
pub(super) struct Dataset {
    /// The day of its last change.
    pub(super) updated_at: String,
    /// By id.
    pub(super) clients: Vec<ClientData>,
    /// By slug.
    pub(super) features: Vec<Feature>,
}

/// A mail client on a platform.
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
#[derive(Default)]
pub(super) struct Cell {
    pub(super) support: SupportLevel,
    /// The last listed version; `""` when the client was not tested.
    pub(super) version: String,
    /// Numbers of notes.
    pub(super) notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataHead {
    updated_at: String,
    families: BTreeMap<String, String>,
    platforms: BTreeMap<String, String>,
    categories: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct FeatureLine {
    slug: String,
    title: String,
    category: String,
    support: BTreeMap<String, String>,
    notes: BTreeMap<String, String>,
}

/// The data set that the executable has. A test reads it, so that it is never empty.
pub(super) fn dataset() -> &'static Dataset {
    static DATASET: LazyLock<Dataset> = LazyLock::new(|| read(JSON_LINES).unwrap_or(NOTHING));
    &DATASET
}

const NOTHING: Dataset =
    Dataset { updated_at: String::new(), clients: Vec::new(), features: Vec::new() };

fn read(text: &str) -> Result<Dataset, serde_json::Error> {
    let mut lines = text.lines();
    let head: DataHead = serde_json::from_str(lines.next().unwrap_or_default())?;
    let lines = lines.map(serde_json::from_str).collect::<Result<Vec<FeatureLine>, _>>()?;
    let ids: std::collections::BTreeSet<_> =
        lines.iter().flat_map(|line| line.support.keys().cloned()).collect();
    let features: Vec<_> = lines.into_iter().map(|line| feature(line, &head, &ids)).collect();
    let clients = ids.iter().enumerate().map(|(at, id)| client(id, at, &head, &features)).collect();
    Ok(Dataset { updated_at: head.updated_at, clients, features })
}

fn feature(
    line: FeatureLine,
    head: &DataHead,
    ids: &std::collections::BTreeSet<String>,
) -> Feature {
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
        let data = dataset();
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
