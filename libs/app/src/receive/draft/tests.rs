#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn draft(header: &str, to: Vec<String>) -> Draft {
    let envelope = Envelope { from: "app@example.com".to_owned(), to };
    let raw = Bytes::from(format!("{header}\r\n\r\nhello\r\n"));
    Draft::of(Incoming { targets: Vec::new(), envelope, raw }, &[])
}

fn people(count: usize) -> String {
    let people = (0..count).map(|n| format!("Person {n} <p{n}@x.test>"));
    people.collect::<Vec<_>>().join(",\r\n ")
}

#[test]
fn a_row_has_at_most_16_kib_whatever_the_mail_has() {
    let many = people(5_000);
    let quotes = "\\\"".repeat(50_000);
    let unknown = "=?x-none?B?/w==?= ".repeat(3_000);
    for header in [
        format!("From: {many}\r\nTo: {many}\r\nCc: {many}\r\nBcc: {many}\r\nReply-To: {many}"),
        format!("Subject: {}", "s".repeat(800_000)),
        format!(
            "Subject: {}\r\nFrom: <a@x.test>\r\nTo: \"{quotes}\" <a@x.test>",
            "ß".repeat(9_000)
        ),
        format!("Subject: =?utf-8?Q?{}?=", "=01".repeat(20_000)),
        format!("Subject: {unknown}\r\nTo: {unknown}\r\nFrom: \"{quotes}\" <b@x.test>"),
        format!("From: {} <{}@x.test>", "n".repeat(9_000), "l".repeat(9_000)),
    ] {
        let to = (0..1_000).map(|n| format!("\"\\{}\"@x{n}.test", "\"".repeat(200))).collect();
        let mut draft = draft(&header, to);
        draft.message.blob.segment = "s".repeat(64);
        draft.message.whole_envelope = Some(draft.message.blob.clone());
        let doc = draft.message.doc(&draft.search).unwrap();
        assert!(doc.len() <= 16 * 1024, "{}: {header:.80}", doc.len());
        assert!(draft.message.cut);
        let whole: Envelope = serde_json::from_slice(&draft.envelope.unwrap()).unwrap();
        assert_eq!(whole.to.len(), 1_000);
    }
}

#[test]
fn a_usual_mail_is_not_cut() {
    let header = format!("Subject: {}\r\nTo: {}", "s".repeat(900), people(40));
    let draft = draft(&header, (0..40).map(|n| format!("p{n}@x.test")).collect());
    assert!(!draft.message.cut && draft.envelope.is_none());
    assert_eq!((draft.message.to.len(), draft.message.envelope.to.len()), (40, 40));
    assert!(draft.search.contains("person 39 <p39@x.test>"), "{}", draft.search);
}
