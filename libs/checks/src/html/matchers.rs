//! What in a message uses which feature: `data/matchers.tsv`, written by hand, read once.

use std::{collections::HashMap, sync::LazyLock};

use super::data::Dataset;

const TABLE: &str = include_str!("../../data/matchers.tsv");

/// Something that a message has, as the matchers name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum UseKind {
    Element,
    /// An element with a `type` attribute: its names are the two, with a blank between.
    Typed,
    Attribute,
    AtRule,
    /// A feature in the prelude of `@media`.
    MediaFeature,
    /// A pseudo-class or a pseudo-element.
    Pseudo,
    /// A combinator, or a kind of simple selector.
    Selector,
    Property,
    /// A property with a value: `display=flex`.
    Value,
    Function,
    Unit,
    Keyword,
    /// An image format, or the way that an image is carried.
    Image,
    /// What takes a rule of its own in the scan.
    Special,
}

const KINDS: [(&str, UseKind); 14] = [
    ("element", UseKind::Element),
    ("typed", UseKind::Typed),
    ("attribute", UseKind::Attribute),
    ("at-rule", UseKind::AtRule),
    ("feature", UseKind::MediaFeature),
    ("pseudo", UseKind::Pseudo),
    ("selector", UseKind::Selector),
    ("property", UseKind::Property),
    ("value", UseKind::Value),
    ("function", UseKind::Function),
    ("unit", UseKind::Unit),
    ("keyword", UseKind::Keyword),
    ("image", UseKind::Image),
    ("special", UseKind::Special),
];

/// What readers lose when a client does not support a feature.
const IMPACTS: [(&str, f64); 3] = [
    // Something cannot be read or used.
    ("content", 0.20),
    // The parts are not where they should be.
    ("layout", 0.10),
    // It looks less well.
    ("decoration", 0.04),
];

/// The matchers, by what they match.
pub(super) struct Matchers {
    /// Places of features in the data set. A name has the longest of 64 bytes.
    by_name: HashMap<UseKind, HashMap<&'static str, Vec<usize>>>,
    /// By place in the data set.
    pub(super) impacts: Vec<f64>,
}

/// The longest name in the table, in bytes: what is longer is not looked up.
const LONGEST: usize = 64;

impl Matchers {
    /// The features that use `name`, which is lower-case.
    pub(super) fn features(&self, kind: UseKind, name: &str) -> &[usize] {
        let names = self.by_name.get(&kind);
        names.and_then(|names| names.get(name)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The same of a name in any case.
    pub(super) fn features_in_any_case(&self, kind: UseKind, name: &str) -> &[usize] {
        if name.len() > LONGEST || !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return self.features(kind, name);
        }
        self.features(kind, &name.to_ascii_lowercase())
    }
}

/// A row of the table.
pub(super) struct MatcherRow {
    pub(super) slug: &'static str,
    pub(super) impact: f64,
    kind: UseKind,
    names: Vec<&'static str>,
    /// A message that uses the feature.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests are made from it"))]
    pub(super) example: &'static str,
}

/// The rows, in order.
pub(super) fn rows() -> impl Iterator<Item = MatcherRow> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(row)
}

fn row(line: &'static str) -> Option<MatcherRow> {
    let mut cells = line.split('\t');
    let (slug, impact, matcher) = (cells.next()?, cells.next()?, cells.next()?);
    let (_, impact) = IMPACTS.iter().find(|(name, _)| *name == impact)?;
    let (kind, names) = matcher.split_once(' ')?;
    let (_, kind) = KINDS.iter().find(|(name, _)| *name == kind)?;
    let names = names.split('|').collect();
    Some(MatcherRow {
        slug,
        impact: *impact,
        kind: *kind,
        names,
        example: cells.next().unwrap_or_default(),
    })
}

/// The matchers of the data set.
pub(super) fn matchers() -> &'static Matchers {
    static MATCHERS: LazyLock<Matchers> = LazyLock::new(read);
    &MATCHERS
}

fn read() -> Matchers {
    let features = &Dataset::builtin().features;
    let mut matchers = Matchers { by_name: HashMap::new(), impacts: vec![0.0; features.len()] };
    for row in rows() {
        let Ok(at) = features.binary_search_by(|feature| feature.slug.as_str().cmp(row.slug))
        else {
            continue;
        };
        matchers.impacts[at] = row.impact;
        for name in row.full_names() {
            let names = matchers.by_name.entry(row.kind).or_default();
            names.entry(name).or_default().push(at);
        }
    }
    matchers
}

impl MatcherRow {
    /// The names as they are looked up: the values of a property all with its name before them.
    fn full_names(&self) -> Vec<&'static str> {
        let Some((property, first)) = self.names.first().and_then(|name| name.split_once('='))
        else {
            return self.names.clone();
        };
        let values = std::iter::once(first).chain(self.names[1..].iter().copied());
        values.map(|value| &*format!("{property}={value}").leak()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_feature_has_a_row_and_every_row_a_feature() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        let rows: BTreeSet<_> = rows().map(|row| row.slug).collect();
        assert_eq!(rows.len(), lines, "rows that cannot be read, or twice");
        let slugs: BTreeSet<_> =
            Dataset::builtin().features.iter().map(|f| f.slug.as_str()).collect();
        let without_row: Vec<_> = slugs.difference(&rows).collect();
        let without_feature: Vec<_> = rows.difference(&slugs).collect();
        assert!(without_row.is_empty(), "features without a matcher: {without_row:?}");
        assert!(without_feature.is_empty(), "matchers without a feature: {without_feature:?}");
        assert!(rows.iter().all(|row| row.len() <= LONGEST));
    }
}
