#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use trapline_model::Attachment;

use super::*;

fn download(content_type: &str) -> Download {
    let meta = Attachment {
        id: "3".to_owned(),
        filename: "../a.bin".to_owned(),
        content_type: content_type.to_owned(),
        size: 2,
        content_id: None,
        inline: true,
        sha256: String::new(),
    };
    Download { meta, bytes: b"ab".to_vec() }
}

#[test]
fn only_images_of_four_kinds_are_served_as_themselves() {
    let cases = [
        ("image/png", "image/png", "inline"),
        ("image/jpeg", "image/jpeg", "inline"),
        ("image/gif", "image/gif", "inline"),
        ("image/webp", "image/webp", "inline"),
        ("text/html", OPAQUE, "attachment"),
        ("application/xhtml+xml", OPAQUE, "attachment"),
        ("", OPAQUE, "attachment"),
    ];
    for (sent, served, shown) in cases {
        for signed in [true, false] {
            let response = file(download(sent), signed);
            let headers = response.headers();
            assert_eq!(headers["content-type"], served, "{sent}");
            assert_eq!(headers["content-security-policy"], "sandbox; default-src 'none'");
            let how = if signed { shown } else { "attachment" };
            let disposition = headers["content-disposition"].to_str().unwrap();
            assert_eq!(disposition, format!("{how}; filename=\"a.bin\""), "{sent}");
            let embeddable = headers.contains_key("cross-origin-resource-policy");
            assert_eq!(embeddable, signed && served != OPAQUE, "{sent}");
        }
    }
}

#[test]
fn an_svg_image_is_painted_in_a_preview_and_runs_nowhere() {
    let response = file(download("image/svg+xml"), true);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "image/svg+xml");
    assert_eq!(headers["content-disposition"], "attachment; filename=\"a.bin\"");
    assert_eq!(headers["cross-origin-resource-policy"], "cross-origin");
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("sandbox; default-src 'none';"), "{policy}");
    assert!(!policy.contains("script") && !policy.contains("allow-"), "{policy}");

    let response = file(download("image/svg+xml"), false);
    assert_eq!(response.headers()["content-type"], OPAQUE);
    assert_eq!(response.headers()["content-security-policy"], "sandbox; default-src 'none'");
    assert!(!response.headers().contains_key("cross-origin-resource-policy"));
}
