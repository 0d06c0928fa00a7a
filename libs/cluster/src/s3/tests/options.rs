//! The URL, and that its secret stays in it.

use crate::s3::{
    SegmentOptions, Segments,
    options::{Bucket, SegmentsLocation},
};

fn bucket(name: &str, prefix: &str) -> Bucket {
    Bucket { name: name.to_owned(), prefix: prefix.to_owned(), ..Bucket::default() }
}

#[test]
fn urls_are_taken_apart() {
    let credentials = Some(("AKIA1".to_owned(), "a+b/c=d e".to_owned()));
    let region = Some("eu-west-1".to_owned());
    let endpoint = Some("http://127.0.0.1:8333".to_owned());
    let cases = [
        ("file:///srv/segments", SegmentsLocation::Folder("/srv/segments".into())),
        ("file:///srv/a%20b/", SegmentsLocation::Folder("/srv/a b/".into())),
        ("s3://mail", SegmentsLocation::Bucket(bucket("mail", ""))),
        ("s3://Mail.box/", SegmentsLocation::Bucket(bucket("Mail.box", ""))),
        ("s3://mail/a%20b/./c d", SegmentsLocation::Bucket(bucket("mail", "a%20b/c%20d"))),
        ("s3://mail/a/b/?", SegmentsLocation::Bucket(bucket("mail", "a/b"))),
        (
            "s3://mail?region=eu-west-1&ca=/etc/ca.pem",
            SegmentsLocation::Bucket(Bucket {
                region,
                ca: Some("/etc/ca.pem".into()),
                ..bucket("mail", "")
            }),
        ),
        (
            "s3://mail/x?endpoint=http://127.0.0.1:8333&key=AKIA1&secret=a+b/c%3Dd%20e",
            SegmentsLocation::Bucket(Bucket { endpoint, credentials, ..bucket("mail", "x") }),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(SegmentsLocation::parse(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn wrong_urls_are_refused_without_their_secret() {
    let cases = [
        ("", "begin with s3:// or file://"),
        ("mail?secret=hush", "begin with"),
        ("gs://mail?secret=hush", "begin with"),
        ("s3://?secret=hush", "one bucket"),
        ("s3:///mail", "one bucket"),
        ("s3://key:hush@mail", "a user name and a password may not"),
        ("s3://mail?key=a", "key and secret"),
        ("s3://mail?secret=hush", "key and secret"),
        ("s3://mail?sekret=hush", "parameter 1"),
        ("s3://mail?region=a&region=b", "parameter 2"),
        ("s3://mail?endpoint=localhost:8333", "endpoint must be"),
        ("s3://mail?endpoint=http://k:hush@h", "endpoint must be"),
        ("file:///?secret=hush", "parameter 1"),
        ("file:///", "a folder"),
    ];
    for (text, told) in cases {
        let error = SegmentsLocation::parse(text).err().unwrap();
        assert!(error.to_string().contains(told), "{text}: {error}");
        assert!(!format!("{error} {error:?}").contains("hush"), "{text}: {error:?}");
    }
}

#[test]
fn a_missing_ca_file_is_named() {
    let url = "s3://mail?ca=/no/such.pem&key=a&secret=hush".to_owned();
    let error = Segments::open(&SegmentOptions { url }).err().unwrap().to_string();
    assert!(error.contains("/no/such.pem") && !error.contains("hush"), "{error}");
}

#[test]
fn debug_text_has_no_secret() {
    let urls = [
        "s3://mail/x?endpoint=http://127.0.0.1:1&key=AKIA1&secret=hush",
        "s3://key:hush@mail/x",
        "hush",
    ];
    for url in urls {
        let text = format!("{:?}", SegmentOptions { url: url.to_owned() });
        assert!(!text.contains("hush") && !text.contains("AKIA1"), "{text}");
    }
    let text = format!("{:?}", super::open(urls[0]));
    assert_eq!(text, r#"Segments(AmazonS3(mail), "x")"#);
}
