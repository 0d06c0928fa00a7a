//! Data and weights that an operator gives in place of those in the executable.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize,
    de::{DeserializeOwned, Deserializer, MapAccess, Visitor},
};

use super::data::{DataHead, Dataset, FeatureLine, aligned, read};

/// A weight is at most this.
const MOST: f64 = 1_000_000.0;

impl Dataset {
    /// Reads the data set of "Can I email", as its package has it (`caniemail.json`) or in our slim form. Features
    /// for which this release has no matcher are left out.
    ///
    /// # Errors
    ///
    /// What is wrong, and in which line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let first = text.lines().next().unwrap_or_default();
        let (head, lines) = if serde_json::from_str::<DataHead>(first).is_ok() {
            read(text).map_err(|(line, error)| format!("line {line}: {error}"))?
        } else {
            let original: OriginalData =
                serde_json::from_str(text).map_err(|error| error.to_string())?;
            original.slim()
        };
        let data = aligned(head, lines, &Self::builtin().features);
        if data.clients.is_empty() {
            return Err("names no client of a feature that this release knows".to_owned());
        }
        Ok(data)
    }

    /// The same data with other weights, by client, as a JSON object has them; a client that it does not name
    /// has none.
    ///
    /// # Errors
    ///
    /// What is wrong: no such client, a weight out of 0 to 1,000,000, or none that counts.
    pub fn with_weights(mut self, text: &str) -> Result<Self, String> {
        let mut weights: BTreeMap<String, f64> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        for client in &mut self.clients {
            client.weight = weights.remove(&client.id).unwrap_or(0.0);
            if !(0.0..=MOST).contains(&client.weight) {
                return Err(format!("the weight of {} is not from 0 to {MOST}", client.id));
            }
        }
        if let Some(unknown) = weights.keys().next() {
            return Err(format!("\"{unknown}\" is no client: GET /api/checks lists them"));
        }
        if self.clients.iter().all(|client| client.weight == 0.0) {
            return Err("no client has a weight".to_owned());
        }
        Ok(self)
    }
}

/// The file of the package.
#[derive(Deserialize)]
struct OriginalData {
    last_update_date: String,
    nicenames: NiceNames,
    data: Vec<OriginalFeature>,
}

#[derive(Deserialize)]
struct NiceNames {
    family: BTreeMap<String, String>,
    platform: BTreeMap<String, String>,
    category: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct OriginalFeature {
    slug: String,
    title: String,
    category: String,
    /// By family and platform, the versions in the order of the file.
    stats: BTreeMap<String, BTreeMap<String, Listed<String>>>,
    #[serde(default)]
    notes_by_num: Option<BTreeMap<String, String>>,
}

impl OriginalData {
    /// The slim form, as `data/refresh.py` writes it.
    fn slim(self) -> (DataHead, Vec<FeatureLine>) {
        let day = self.last_update_date.split_whitespace().next().unwrap_or_default();
        let head = DataHead {
            updated_at: day.to_owned(),
            families: self.nicenames.family,
            platforms: self.nicenames.platform,
            categories: self.nicenames.category,
        };
        (head, self.data.into_iter().map(OriginalFeature::slim).collect())
    }
}

impl OriginalFeature {
    fn slim(self) -> FeatureLine {
        let mut support = BTreeMap::new();
        for (family, platforms) in self.stats {
            for (platform, Listed(versions)) in platforms {
                if let Some((version, letter)) = versions.last() {
                    let words = letter.split_whitespace().collect::<Vec<_>>().join(" ");
                    support.insert(format!("{family}.{platform}"), format!("{version} {words}"));
                }
            }
        }
        let notes = self.notes_by_num.unwrap_or_default();
        FeatureLine { slug: self.slug, title: self.title, category: self.category, support, notes }
    }
}

/// An object whose names stand in the order of the file, which says what version is the last one.
struct Listed<T>(Vec<(String, T)>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names<T>(std::marker::PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for Names<T> {
            type Value = Listed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object, or an empty list")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut listed = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    listed.push(entry);
                }
                Ok(Listed(listed))
            }

            // The package writes an empty object as a list.
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                _: A,
            ) -> Result<Self::Value, A::Error> {
                Ok(Listed(Vec::new()))
            }
        }
        deserializer.deserialize_any(Names(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use trapline_model::SupportLevel;

    use super::*;

    const ORIGINAL: &str = r#"{"api_version":"1.0.4","last_update_date":"2030-01-02 03:04:05 +0000",
        "nicenames":{"family":{"gmail":"Gmail"},"platform":{"ios":"iOS"},"support":{},"category":{"css":"CSS","html":"HTML"}},
        "data":[
            {"slug":"html-video","title":"<video>","category":"html","stats":{"gmail":{"ios":{"12":"y","10.15":"n #1 #2"}}},"notes_by_num":{"1":"A","2":"B"}},
            {"slug":"css-invented","title":"invented","category":"css","stats":{"gmail":{"ios":{"1":"y"}}},"notes_by_num":null}
        ]}"#;

    #[test]
    fn the_original_is_read_in_its_own_order() {
        let data = Dataset::parse(ORIGINAL).unwrap();
        assert_eq!(data.updated_at, "2030-01-02");
        assert_eq!(data.left_out(), ["css-invented"]);
        assert_eq!(data.clients.len(), 1);
        let features = &data.features;
        assert_eq!(features.len(), Dataset::builtin().features.len());
        let video = features.iter().find(|feature| feature.slug == "html-video").unwrap();
        let cell = &video.cells[0];
        assert_eq!((cell.support, cell.version.as_str()), (SupportLevel::No, "10.15"));
        assert_eq!(cell.notes, ["1", "2"]);
        let other = features.iter().find(|feature| feature.slug == "html-audio").unwrap();
        assert_eq!(other.cells[0].support, SupportLevel::Unknown);
    }

    #[test]
    fn the_slim_form_is_what_the_executable_has() {
        let text = include_str!("../../data/caniemail.jsonl");
        let data = Dataset::parse(text).unwrap();
        assert_eq!((data.features.len(), data.clients.len(), data.left_out().len()), (307, 48, 0));
        let broken = text.replacen("\"slug\":\"bimi\"", "\"slug\":", 1);
        let refused = Dataset::parse(&broken).err().unwrap();
        assert!(refused.starts_with("line 3: "), "{refused}");
        for nothing in ["", "{}", "[]", "{\"last_update_date\":\"a\"}"] {
            assert!(Dataset::parse(nothing).is_err(), "{nothing}");
        }
    }

    #[test]
    fn weights_are_those_of_the_file() {
        let data = || Dataset::parse(ORIGINAL).unwrap();
        let weighted = data().with_weights(r#"{"gmail.ios": 2.5}"#).unwrap();
        assert_eq!(weighted.clients.first().map(|client| client.weight), Some(2.5));
        for wrong in ["", "{}", r#"{"lotus": 1}"#, r#"{"gmail.ios": -1}"#, r#"{"gmail.ios": 0}"#] {
            assert!(data().with_weights(wrong).is_err(), "{wrong}");
        }
    }
}
