//! Every kind of damage to an archive: `verify` and `restore` name it and its place, and nothing is restored.

use std::{fs, ops::Range, path::Path};

use tempfile::TempDir;
use trapline_tests::{Deployment, Mail, command, deliver};

use super::text;

/// What tar files are made of, in bytes.
const BLOCK: usize = 512;
/// Fields of a header.
const NAME: Range<usize> = 0..100;
const SIZE: Range<usize> = 124..135;
const SUM: Range<usize> = 148..156;
const MAGIC: usize = 257;

/// An entry of an archive.
struct Entry {
    name: String,
    /// Where its header is.
    at: usize,
    size: usize,
}

impl Entry {
    fn data(&self) -> Range<usize> {
        self.at + BLOCK..self.at + BLOCK + self.size
    }

    /// With its header and what fills the last block.
    fn whole(&self) -> Range<usize> {
        self.at..self.data().end.next_multiple_of(BLOCK)
    }
}

/// An archive that is whole.
struct Tar {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Tar {
    fn read(path: &Path) -> Self {
        let (bytes, mut entries, mut at) = (fs::read(path).unwrap(), Vec::new(), 0);
        while bytes[at] != 0 {
            let field = |range: Range<usize>| {
                let text = str::from_utf8(&bytes[at + range.start..at + range.end]).unwrap();
                text.trim_end_matches('\0').to_owned()
            };
            let size = usize::from_str_radix(&field(SIZE), 8).unwrap();
            let entry = Entry { name: field(NAME), at, size };
            at = entry.whole().end;
            entries.push(entry);
        }
        Self { bytes, entries }
    }

    /// The first entry whose name begins so, and the one before it.
    fn entry(&self, begin: &str) -> (&Entry, &Entry) {
        let found = self.entries.iter().position(|entry| entry.name.starts_with(begin)).unwrap();
        (&self.entries[found], &self.entries[found.saturating_sub(1)])
    }

    fn flipped(&self, at: usize) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[at] ^= 1;
        bytes
    }

    /// With another text somewhere.
    fn with(&self, at: usize, text: &[u8]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[at..at + text.len()].copy_from_slice(text);
        bytes
    }

    /// With another field in the header of an entry, whose checksum is right.
    fn sealed(&self, entry: &Entry, field: &Range<usize>, text: &str) -> Vec<u8> {
        let mut value = vec![0; field.len()];
        value[..text.len()].copy_from_slice(text.as_bytes());
        let mut bytes = self.with(entry.at + field.start, &value);
        let header = &mut bytes[entry.at..entry.at + BLOCK];
        header[SUM].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[SUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes
    }

    /// With these entries instead of all.
    fn of(&self, entries: &[&Entry]) -> Vec<u8> {
        let parts = entries.iter().map(|entry| &self.bytes[entry.whole()]);
        let mut bytes: Vec<u8> = parts.flatten().copied().collect();
        bytes.extend([0; 2 * BLOCK]);
        bytes
    }
}

/// A kind of damage: what it is, the archive, and what is said of it.
type Damage = (&'static str, Vec<u8>, String);

fn damaged(what: &str, place: &str, at: usize) -> String {
    format!("the archive is damaged: {what}, in {place} at byte {at}")
}

/// Damage to an entry, which is found there.
fn to_entries(tar: &Tar) -> Vec<Damage> {
    let (rows, before) = tar.entry("rows/message/");
    let ((segment, _), (key, _)) = (tar.entry("segments/"), tar.entry("keys/secret.key"));
    let (inside, behind) = (rows.data().start + 10, format!("what follows {}", before.name));
    let check = rows.at
        + BLOCK
        + tar.bytes[rows.data()].windows(9).rposition(|it| it == b"{\"rows\":1").unwrap();
    let at = |entry: &Entry, what: &str| damaged(what, &entry.name, entry.at);
    vec![
        ("a byte of a row", tar.flipped(inside), at(rows, "the rows have another checksum")),
        ("rows without a checksum", tar.with(check, b"x"), at(rows, "there is no checksum")),
        (
            "rows of zeros",
            tar.with(rows.data().start, &vec![0; rows.size]),
            at(rows, "there is no last line"),
        ),
        (
            "a byte of a message",
            tar.flipped(segment.data().start + 40),
            at(segment, "a message has another checksum"),
        ),
        (
            "the beginning of a segment",
            tar.flipped(segment.data().start),
            at(segment, "not a segment of a known version"),
        ),
        (
            "the end of a segment",
            tar.flipped(segment.data().end - 12),
            at(segment, "the segment's footer is damaged"),
        ),
        (
            "a segment under another name",
            tar.sealed(segment, &NAME, "segments/keep/one.seg"),
            damaged("this is no name of a segment", "segments/keep/one.seg", segment.at),
        ),
        (
            "an entry of another kind",
            tar.sealed(rows, &NAME, "letters/one"),
            damaged("an entry that no archive has", "letters/one", rows.at),
        ),
        ("a key that is no text", tar.with(key.data().start, &[0xff]), at(key, "a key is no text")),
        (
            "a byte of a header",
            tar.flipped(rows.at + 5),
            damaged("a header has another checksum", &behind, rows.at),
        ),
        (
            "another file within",
            tar.flipped(rows.at + MAGIC),
            damaged("there is no header of a tar file", &behind, rows.at),
        ),
        (
            "a length that is none",
            tar.sealed(rows, &SIZE, "many"),
            damaged("a header has no size", &behind, rows.at),
        ),
        (
            "an endless entry",
            tar.sealed(rows, &SIZE, "77777777777"),
            at(rows, "an entry is too large"),
        ),
    ]
}

/// Damage that only the whole shows, which the manifest tells.
fn to_the_whole(tar: &Tar) -> Vec<Damage> {
    let (manifest, last) = tar.entry("manifest.json");
    let ((rows, _), (key, head)) = (tar.entry("rows/message/"), tar.entry("keys/secret.key"));
    let without = |left_out: &Entry| -> Vec<&Entry> {
        tar.entries.iter().filter(|entry| entry.name != left_out.name).collect()
    };
    let twice: Vec<_> =
        [head, key, key].into_iter().chain(without(head).into_iter().skip(1)).collect();
    let rows_twice = {
        let mut entries: Vec<_> = tar.entries.iter().collect();
        entries.insert(entries.len() - 1, rows);
        entries
    };
    let swapped = {
        let mut entries: Vec<_> = tar.entries.iter().collect();
        let at = entries.iter().position(|entry| entry.name == rows.name).unwrap();
        entries.swap(at, at - 1);
        entries
    };
    let count = "there is more or less in the archive than it says";
    let sum = "the archive has another checksum than it says";
    let says = |what: &str, at: usize| damaged(what, &manifest.name, at);
    let in_manifest = |text: &[u8]| {
        let data = &tar.bytes[manifest.data()];
        manifest.data().start
            + data.windows(text.len()).position(|it| it == text).unwrap()
            + text.len()
    };
    let first = head.data().start;
    let started =
        first + tar.bytes[head.data()].windows(9).position(|it| it == b"\"version\"").unwrap() + 11;
    vec![
        ("another head", tar.flipped(started), says(sum, manifest.at)),
        ("another key", tar.flipped(key.data().start + 3), says(sum, manifest.at)),
        ("what fills a block", tar.flipped(key.data().end + 1), says(sum, manifest.at)),
        ("rows that went", tar.of(&without(rows)), says(count, manifest.at - rows.whole().len())),
        (
            "rows that came twice",
            tar.of(&rows_twice),
            says(count, manifest.at + rows.whole().len()),
        ),
        ("a key that came twice", tar.of(&twice), says(sum, manifest.at + key.whole().len())),
        ("another order", tar.of(&swapped), says(sum, manifest.at)),
        ("another count", tar.flipped(in_manifest(b"\"segments\":")), says(count, manifest.at)),
        ("another sum", tar.flipped(in_manifest(b"\"sha256\":\"")), says(sum, manifest.at)),
        (
            "no manifest",
            tar.of(&without(manifest)),
            damaged("there is no manifest", "its end", last.whole().end),
        ),
        (
            "rows of a table that there is not",
            tar.sealed(rows, &NAME, "rows/letters/000001.jsonl"),
            "rows of the table letters, which this release does not know".to_owned(),
        ),
    ]
}

/// Archives that end before their end, and files that are none.
fn cut_off(tar: &Tar) -> Vec<Damage> {
    let ((rows, before), (manifest, last)) =
        (tar.entry("rows/message/"), tar.entry("manifest.json"));
    let cut = |what: &'static str, at: usize, place: &str| {
        let told = format!("the archive is cut off: it ends at byte {at}, in {place}");
        (what, tar.bytes[..at].to_vec(), told)
    };
    let long = tar.sealed(rows, &SIZE, "10000000000");
    vec![
        cut("nothing", 0, "its beginning"),
        cut("half a header", rows.at + 100, &before.name),
        cut("half an entry", rows.data().end - 1, &rows.name),
        cut("no end", manifest.at, &last.name),
        cut("half a manifest", manifest.data().end - 1, &manifest.name),
        (
            "an entry beyond the end",
            long.clone(),
            format!("the archive is cut off: it ends at byte {}, in {}", long.len(), rows.name),
        ),
        (
            "another file",
            b"PK\x03\x04".repeat(1000),
            "this is not an archive of `trapline backup`".to_owned(),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_damage_is_named_with_its_place_and_nothing_is_restored() {
    let folder = TempDir::new().unwrap();
    let server = Deployment::alone(&[]);
    deliver(&server, &server.rest().inbox().await, &Mail::new("one", "x")).await;
    let [whole, spoilt] = ["whole.tar", "spoilt.tar"].map(|name| folder.path().join(name));
    server.command(&["backup", "--to", &text(&whole)]);
    let (tar, data) = (Tar::read(&whole), folder.path().join("data"));
    for (what, bytes, wanted) in [to_entries(&tar), to_the_whole(&tar), cut_off(&tar)].concat() {
        fs::write(&spoilt, &bytes).unwrap();
        for name in ["verify", "restore"] {
            let output = command(&data).args([name, "--from", &text(&spoilt)]).output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{what}: {name}");
            assert!(told.contains(&wanted), "{what}: {name} says {told} instead of {wanted}");
            assert!(told.contains(&text(&spoilt)), "{what}: {name} says {told}");
        }
        assert!(!data.exists(), "{what}: something is restored");
    }
}
