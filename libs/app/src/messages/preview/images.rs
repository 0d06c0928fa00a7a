//! The parts of a message that its HTML may show.

use std::collections::HashMap;

use trapline_model::Attachment;

use crate::Result;

/// URLs of parts by Content-ID.
#[derive(Debug, Default)]
pub(super) struct Images {
    urls: Vec<String>,
    exact: HashMap<String, usize>,
    /// By Content-ID in lower case.
    folded: HashMap<String, usize>,
}

impl Images {
    /// Of several parts with one Content-ID the first counts.
    pub(super) fn of(parts: Vec<Attachment>, url: impl Fn(&str) -> Result<String>) -> Result<Self> {
        let mut images = Self::default();
        for part in parts {
            let Some(id) = part.content_id else { continue };
            if images.exact.contains_key(&id) {
                continue;
            }
            let number = images.urls.len();
            images.urls.push(url(&part.id)?);
            images.folded.entry(id.to_lowercase()).or_insert(number);
            images.exact.insert(id, number);
        }
        Ok(images)
    }

    /// The URL of the part with that Content-ID, or else of one that differs in letter case only.
    pub(super) fn url(&self, id: &str) -> Option<&str> {
        let number = self.exact.get(id).or_else(|| self.folded.get(&id.to_lowercase()))?;
        self.urls.get(*number).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn images(ids: &[&str]) -> Images {
        let part = |(number, id): (usize, &&str)| Attachment {
            id: number.to_string(),
            filename: String::new(),
            content_type: "image/png".to_owned(),
            size: 1,
            content_id: Some((*id).to_owned()),
            inline: true,
            sha256: String::new(),
        };
        let parts = ids.iter().enumerate().map(part).collect();
        Images::of(parts, |part| Ok(format!("part {part}"))).unwrap()
    }

    #[test]
    fn a_part_is_found_by_its_id_and_else_by_its_letters() {
        let images = images(&["Logo@X", "logo@x", "LOGO@x", "Logo@X", "a%40b"]);
        assert_eq!(images.url("Logo@X"), Some("part 0"));
        assert_eq!(images.url("logo@x"), Some("part 1"));
        assert_eq!(images.url("LOGO@x"), Some("part 2"));
        assert_eq!(images.url("lOGO@x"), Some("part 0"));
        assert_eq!(images.url("A%40B"), Some("part 4"));
        assert_eq!(images.url("a@b"), None);
    }
}
