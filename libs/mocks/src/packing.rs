//! Documents of rows in fewer bytes, where a call writes more than fits into one write.

use std::{
    borrow::Cow,
    io::{Read as _, Write as _},
};

use data_encoding::BASE64;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use crate::Write;

/// How a packed document begins, and how it ends; no other begins so.
const BEGIN: &str = "{\"deflated\":\"";
const END: &str = "\"}";
/// Bytes below which packing a document gains nothing.
const WORTH_PACKING: usize = 512;
/// The longest object, in bytes before it is packed.
const MAX_OBJECT: usize = 64 << 10;
/// The longest list of what a call sends, in bytes before it is packed.
const MAX_OUTGOING: usize = 1 << 20;

/// Packs the documents of writes that together are longer than `most` bytes. Whether they fit then.
pub(crate) fn fit(writes: &mut [Write], most: usize) -> bool {
    let mut together: Vec<_> = writes.iter_mut().filter(|write| !write.life.is_apart()).collect();
    let longest = |kind: &str| if kind == "~out" { MAX_OUTGOING } else { MAX_OBJECT };
    if together.iter().any(|write| length(write) > longest(&write.kind)) {
        return false;
    }
    let size = |together: &[&mut Write]| together.iter().map(|write| length(write)).sum::<usize>();
    if size(&together) > most {
        for write in &mut together {
            write.doc = write.doc.take().map(packed);
        }
    }
    size(&together) <= most
}

fn length(write: &Write) -> usize {
    write.doc.as_ref().map_or(0, String::len)
}

/// The document in fewer bytes; as it is where that gains nothing.
fn packed(doc: String) -> String {
    if doc.len() < WORTH_PACKING {
        return doc;
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let deflated = encoder.write_all(doc.as_bytes()).and_then(|()| encoder.finish());
    match deflated.map(|bytes| format!("{BEGIN}{}{END}", BASE64.encode(&bytes))) {
        Ok(short) if short.len() < doc.len() => short,
        _ => doc,
    }
}

/// The document of a row as the engine wrote it. One that cannot be unpacked stays as it is, and is no object.
#[must_use]
pub fn unpacked(doc: &str) -> Cow<'_, str> {
    inflated(doc).map_or(Cow::Borrowed(doc), Cow::Owned)
}

fn inflated(doc: &str) -> Option<String> {
    let bytes = BASE64.decode(doc.strip_prefix(BEGIN)?.strip_suffix(END)?.as_bytes()).ok()?;
    let mut text = String::new();
    let most = u64::try_from(MAX_OUTGOING).unwrap_or(u64::MAX);
    ZlibDecoder::new(bytes.as_slice()).take(most).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::{Chance, WriteLife};

    const MOST: usize = 40 << 10;

    fn write(kind: &str, doc: String, life: WriteLife) -> Write {
        let (kind, id) = (kind.to_owned(), "1".to_owned());
        Write { kind, id, doc: Some(doc), life, is_secret: false }
    }

    #[test]
    fn what_does_not_fit_is_packed_or_refused() {
        let (random, dull) = (Chance::new([1; 32]), |length| "{}".repeat(length / 2));
        let (object, event) = (WriteLife::Object, WriteLife::Event);
        let cases = [
            ("it fits", vec![write("a", dull(MOST), object)], true, false),
            ("together too long", vec![write("a", dull(MOST), object); 2], true, true),
            ("what is sent", vec![write("~out", dull(900 << 10), event)], true, true),
            ("an object", vec![write("a", dull(65 << 10), object)], false, false),
            ("what is sent, longer", vec![write("~out", dull(2 << 20), event)], false, false),
            ("noise", vec![write("a", random.base62(60_000), object)], false, false),
            ("apart", vec![write("a", dull(90 << 10), WriteLife::Apart)], true, false),
        ];
        for (name, mut writes, fits, is_packed) in cases {
            let before = writes.clone();
            assert_eq!(fit(&mut writes, MOST), fits, "{name}");
            assert!(!fits || (writes != before) == is_packed, "{name}");
            for (write, before) in writes.iter().zip(&before) {
                let doc = write.doc.as_deref().unwrap();
                assert_eq!(unpacked(doc), before.doc.as_deref().unwrap(), "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_packed_document_stays_as_it_is() {
        let huge = packed("x".repeat(MAX_OUTGOING * 2));
        assert_eq!(unpacked(&huge).len(), MAX_OUTGOING, "no more is inflated");
        for doc in ["", "{}", "{\"deflated\":\"", "{\"deflated\":\"!\"}", "{\"deflated\":\"AAAA\"}"]
        {
            assert_eq!(unpacked(doc), doc);
        }
    }
}
