#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    process::Command,
};

use aws_lc_rs::{
    encoding::AsDer as _,
    rand::SystemRandom,
    rsa::{KeyPair, KeySize},
    signature::RSA_PKCS1_SHA256,
};
use proptest::{collection::vec, prelude::*, strategy::ValueTree as _, test_runner::TestRunner};

use super::*;

const NAMESPACES: [Namespace; 4] =
    [Namespace::Ds, Namespace::Md, Namespace::Saml, Namespace::Samlp];
const NAMES: [&str; 5] = ["Status", "Attribute", "Extensions", "a-b", "C.d"];
const ATTRIBUTES: [&str; 6] = ["Name", "Value", "a", "b-c", "Z", "b_c"];

/// What splits engines: ends of lines, references, brackets, and what is outside of the first plane or of XML.
fn text() -> impl Strategy<Value = String> {
    let odd = prop_oneof![
        Just("\r\n"),
        Just("\r"),
        Just("\t"),
        Just("\n"),
        Just("]]>"),
        Just("&amp;"),
        Just("<a b='\">"),
        Just("\u{1f600}"),
        Just("\u{fffe}"),
        Just("\u{feff}"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("\0"),
    ];
    vec(prop_oneof![odd.prop_map(str::to_owned), any::<String>()], 0..4)
        .prop_map(|parts| parts.concat())
}

fn element() -> impl Strategy<Value = Element> {
    let attributes = vec((prop::sample::select(&ATTRIBUTES), text()), 0..4);
    let head = (prop::sample::select(&NAMESPACES), prop::sample::select(&NAMES), attributes);
    let bare = head.prop_map(|(namespace, name, attributes)| {
        let element = Element::new(namespace, name);
        attributes.into_iter().fold(element, |element, (name, value)| element.with(name, value))
    });
    bare.prop_recursive(6, 40, 5, |inner| {
        let child = prop_oneof![inner.clone().prop_map(Node::Element), text().prop_map(Node::Text)];
        (inner, vec(child, 0..5)).prop_map(|(mut element, children)| {
            element.children = children;
            element
        })
    })
}

/// Draws documents, signs them, and has libxml2 and two verifiers of signatures look at them.
#[test]
fn documents_are_canonical_and_their_signatures_good() {
    let count = if std::env::var("PROOFS").is_ok_and(|it| it == "full") { 100_000 } else { 2_000 };
    let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let pkcs8 = key.as_der().unwrap();
    let pair = rcgen::KeyPair::try_from(pkcs8.as_ref()).unwrap();
    let certificate = rcgen::CertificateParams::default().self_signed(&pair).unwrap();
    let sign = |message: &[u8]| {
        let mut signature = vec![0; key.public_modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
        Ok(signature)
    };
    let text = BASE64.encode(certificate.der());
    let signer = SamlSigner { certificate: &text, digest: DigestMethod::Sha256, sign: &sign };

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("certificate.pem"), certificate.pem()).unwrap();
    let mut documents = BufWriter::new(File::create(folder.path().join("documents")).unwrap());
    let mut runner = TestRunner::default();
    for number in 0..count {
        let mut drawn = element().new_tree(&mut runner).unwrap().current();
        drawn.set("ID", format!("_{number:032x}"));
        drawn.children.insert(0, Node::Element(Element::new(Namespace::Saml, "Issuer")));
        signer.sign(&mut drawn).unwrap();
        writeln!(documents, "{}", BASE64.encode(drawn.document().as_bytes())).unwrap();
    }
    documents.flush().unwrap();

    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let python = tests.join(".tools/saml/bin/python");
    assert!(python.exists(), "{} is not there: run tests/setup.sh first", python.display());
    let script = tests.join("clients/saml/canonical.py");
    let told = Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    let (output, errors) =
        (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{output}{errors}");
    assert_eq!(output.trim(), format!("{count} documents"));
}
