//! The format of an image, by what its URL says. Nothing is fetched.

use super::{matchers::UseKind, uses::Uses};

/// Media types and endings of files, and what the matchers call their format.
const FORMATS: [(&str, &str); 32] = [
    ("apng", "apng"),
    ("avif", "avif"),
    ("bmp", "bmp"),
    ("gif", "gif"),
    ("hdr", "hdr"),
    ("heic", "heif"),
    ("heif", "heif"),
    ("ico", "ico"),
    ("jpeg", "jpg"),
    ("jpg", "jpg"),
    ("mp4", "mp4"),
    ("png", "png"),
    ("svg", "svg"),
    ("tif", "tiff"),
    ("tiff", "tiff"),
    ("webp", "webp"),
    ("image/apng", "apng"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/gif", "gif"),
    ("image/heic", "heif"),
    ("image/heif", "heif"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpg"),
    ("image/png", "png"),
    ("image/svg+xml", "svg"),
    ("image/tiff", "tiff"),
    ("image/vnd.microsoft.icon", "ico"),
    ("image/vnd.radiance", "hdr"),
    ("image/webp", "webp"),
    ("image/x-icon", "ico"),
    ("video/mp4", "mp4"),
];
/// Bytes of a URL that are looked at for a type: `data:` URLs are as long as their image.
const START: usize = 128;
/// Bytes of a URL that is looked at for the ending of its path.
const LONGEST: usize = 8 * 1024;

/// The media types of the parts that `cid:` URLs name.
pub(super) type PartTypes = std::collections::HashMap<String, String>;

/// Looks at the URL of an image.
pub(super) fn image(url: &str, parts: &PartTypes, offset: usize, uses: &mut Uses) {
    let url = url.trim();
    let start = url[..url.floor_char_boundary(START)].to_ascii_lowercase();
    let format = if let Some(rest) = start.strip_prefix("data:") {
        let head = rest.split(',').next().unwrap_or_default();
        if head.split(';').skip(1).any(|parameter| parameter.trim() == "base64") {
            uses.found(UseKind::Image, "base64", offset);
        }
        format(head.split(';').next().unwrap_or_default().trim())
    } else if start.starts_with("cid:") {
        parts.get(url["cid:".len()..].trim()).and_then(|media_type| format(media_type))
    } else {
        (url.len() <= LONGEST).then(|| of_path(url)).flatten()
    };
    if let Some(format) = format {
        uses.found(UseKind::Image, format, offset);
    }
}

fn of_path(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    format(&ending.to_ascii_lowercase())
}

fn format(name: &str) -> Option<&'static str> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
}
