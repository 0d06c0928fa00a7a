//! Rules on files.

use super::{
    super::{facts::FileFacts, lists},
    SpamRule,
};

pub(super) const RULES: &[SpamRule] = &[
    SpamRule::new(
        "FILE_EXECUTABLE",
        30,
        "The name of a file ends like that of a program.",
        |facts| facts.files.iter().any(|file| runs(&file.name)),
    ),
    SpamRule::new(
        "FILE_TWO_EXTENSIONS",
        20,
        "The name of a file ends like that of a program, after the end of a document's name.",
        |facts| facts.files.iter().any(|file| pretends(&file.name)),
    ),
    SpamRule::new(
        "FILE_TYPE_LIES",
        10,
        "A file is called an image or a PDF and begins like a program, an archive or HTML.",
        |facts| facts.files.iter().any(lies),
    ),
    SpamRule::new("FILE_ENCRYPTED", 8, "A ZIP archive is encrypted.", |facts| {
        facts.files.iter().any(|file| is_encrypted_zip(&file.start))
    }),
    SpamRule::new("FILE_HTML", 6, "HTML is attached as a file.", |facts| {
        facts.files.iter().any(|file| {
            let is_page =
                [".html", ".htm", ".xhtml", ".shtml"].iter().any(|e| file.name.ends_with(e));
            is_page || (file.is_attachment && file.media_type == "text/html")
        })
    }),
];

fn runs(name: &str) -> bool {
    ending(name).is_some_and(|(_, ending)| lists::EXECUTABLES.contains(&ending))
}

fn pretends(name: &str) -> bool {
    let Some((rest, _)) = ending(name).filter(|_| runs(name)) else { return false };
    ending(rest.trim_end()).is_some_and(|(_, ending)| lists::DOCUMENTS.contains(&ending.trim()))
}

fn ending(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.').filter(|(rest, _)| !rest.is_empty())
}

/// The first bytes of programs and archives.
const SIGNATURES: [&[u8]; 9] = [
    b"MZ",
    b"\x7FELF",
    b"\xCF\xFA\xED\xFE",
    b"#!",
    b"PK\x03\x04",
    b"Rar!",
    b"7z\xBC\xAF\x27\x1C",
    b"\x1F\x8B",
    b"\xD0\xCF\x11\xE0",
];
const MARKUP: [&str; 4] = ["<!doctype html", "<html", "<script", "<body"];

fn lies(file: &FileFacts) -> bool {
    let claims = file.media_type.starts_with("image/") || file.media_type == "application/pdf";
    let start = String::from_utf8_lossy(&file.start);
    let start = start.trim_start_matches(|char: char| char == '\u{FEFF}' || char.is_whitespace());
    let start = start.chars().take(16).collect::<String>().to_ascii_lowercase();
    let is_markup = || MARKUP.iter().any(|tag| start.starts_with(tag));
    claims && (SIGNATURES.iter().any(|bytes| file.start.starts_with(bytes)) || is_markup())
}

/// Whether the first local header says so (PKWARE, APPNOTE 4.3.7 and 4.4.4, bit 0).
fn is_encrypted_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") && start.get(6).is_some_and(|flags| flags & 1 == 1)
}
