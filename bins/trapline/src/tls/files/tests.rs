#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use rcgen::{CertifiedKey as Made, generate_simple_self_signed};
use tempfile::TempDir;

use super::*;

/// A folder with the files of a certificate for this name.
fn folder(name: &str) -> (TempDir, PathBuf, PathBuf) {
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["tls.crt", "tls.key"].map(|name| folder.path().join(name));
    write(name, &certificate, &key);
    (folder, certificate, key)
}

fn write(name: &str, certificate: &Path, key: &Path) -> Vec<u8> {
    let Made { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    fs::write(certificate, cert.pem()).unwrap();
    fs::write(key, signing_key.serialize_pem()).unwrap();
    cert.der().to_vec()
}

fn shown(files: &CertificateFiles) -> Vec<u8> {
    files.current().cert[0].to_vec()
}

#[test]
fn a_new_pair_is_shown_and_who_has_the_old_one_keeps_it() {
    let (_folder, certificate, key) = folder("old.test");
    let files = CertificateFiles::open(&certificate, &key).unwrap();
    let (old, held) = (shown(&files), files.current());
    files.look();
    assert_eq!(shown(&files), old);
    let new = write("new.test", &certificate, &key);
    files.look();
    assert_eq!(shown(&files), new);
    assert_eq!(held.cert[0].to_vec(), old);
}

#[test]
fn a_broken_pair_leaves_the_old_one_until_it_is_mended() {
    let (_folder, certificate, key) = folder("old.test");
    let files = CertificateFiles::open(&certificate, &key).unwrap();
    let old = shown(&files);
    let good = fs::read(&key).unwrap();
    for broken in [&b""[..], b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
        fs::write(&key, broken).unwrap();
        files.look();
        assert_eq!(shown(&files), old);
    }
    // A certificate that the key is not for, as half-way through a renewal.
    fs::write(&key, good).unwrap();
    let new = write("new.test", &certificate, &key.with_extension("other"));
    files.look();
    assert_eq!(shown(&files), old);
    fs::remove_file(&key).unwrap();
    files.look();
    assert_eq!(shown(&files), old);
    fs::rename(key.with_extension("other"), &key).unwrap();
    files.look();
    assert_eq!(shown(&files), new);
}

#[test]
fn the_first_pair_must_do() {
    let (_folder, certificate, key) = folder("a.test");
    let refusal = |certificate: &Path, key: &Path| {
        format!("{:#}", CertificateFiles::open(certificate, key).unwrap_err())
    };
    assert!(refusal(&certificate, &certificate).contains("tls.crt holds no private key"));
    assert!(refusal(Path::new("/nowhere"), &key).contains("cannot read /nowhere"));
    let (_other, _, other) = folder("b.test");
    assert!(refusal(&certificate, &other).contains("do not fit"));
}
