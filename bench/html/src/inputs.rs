//! What is read.

use std::fmt::Write as _;
use std::{fs, path::Path};

/// Bytes of the inputs that are made to be slow.
const FLOOD: usize = 2 * 1024 * 1024;

/// The name of each input, and its sources.
pub fn all() -> Vec<(String, Vec<String>)> {
    let floods = [
        ("tags", "<b>"),
        ("attributes", "<p a=\"b\" c=d>"),
        ("one tag of attributes", "a=b "),
        ("open tags", "<a \""),
        ("comments", "<!-- -->"),
        ("open comments", "<!--"),
        ("references", "&#0"),
        ("names of references", "&amp;&Amp;"),
        ("styles", "<style></style"),
    ];
    let mut all = vec![
        ("newsletter, 100 KB".to_owned(), vec![newsletter()]),
        ("tests/mime-cases".to_owned(), cases()),
        ("words, 2 MiB".to_owned(), vec![flood("", "the quick brown fox ")]),
    ];
    all.extend(floods.map(|(name, piece)| {
        let start = if name.starts_with("one tag") { "<p " } else { "" };
        (format!("{name}, 2 MiB"), vec![flood(start, piece)])
    }));
    all
}

fn flood(start: &str, piece: &str) -> String {
    start.to_owned() + &piece.repeat(FLOOD / piece.len())
}

/// The messages of the cases, whatever they hold.
fn cases() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mime-cases");
    let files = fs::read_dir(folder).expect("the cases are there");
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    paths.sort();
    let read = |path| fs::read(path).expect("a case can be read");
    paths.iter().map(read).map(|raw| String::from_utf8_lossy(&raw).into_owned()).collect()
}

/// Tables within each other, with a style on each cell, as makers of newsletters write them.
fn newsletter() -> String {
    let mut html = String::from(
        "<!doctype html><html><head><title>News</title><meta charset=utf-8><style>\
         @media (max-width:480px){.c{width:100%!important}}</style></head>\n<body>\n",
    );
    let mut row = 0;
    while html.len() < 100_000 {
        let _infallible = write!(
            html,
            "<table align=\"center\" border=\"0\" cellpadding=\"0\" cellspacing=\"0\" \
             style=\"background:#ffffff;width:100%;max-width:600px;\">\n<tbody><tr>\n<td \
             style=\"font-size:0px;padding:10px 25px;word-break:break-word;\">\n<div \
             style=\"font-family:Helvetica, Arial;font-size:14px;line-height:1.5;\">Offer {row}: \
             a lamp that gives light &amp; warmth, now for 19&nbsp;&euro;. <a \
             href=\"https://news.example/c/{row}?u=1&amp;s=a8f3\" style=\"color:#0055aa;\">Read \
             more</a></div>\n</td></tr><tr><td><img alt=\"Lamp {row}\" width=\"540\" \
             src=\"https://news.example/i/{row}.png\" style=\"display:block;border:0;\"/></td>\n\
             </tr></tbody>\n</table>\n<!-- row {row} -->\n",
        );
        row += 1;
    }
    html + "</body></html>\n"
}
