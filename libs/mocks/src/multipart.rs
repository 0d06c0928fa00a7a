//! Bodies of several parts (RFC 7578): fields as they are in a form, and files as what they are.

use aws_lc_rs::digest::{SHA256, digest};
use data_encoding::HEXLOWER;
use memchr::memmem;
use serde_json::{Map, Value, json};

use crate::form::{self, FormError};

/// Parts of one body.
const MAX_PARTS: usize = 1_000;
/// Bytes of the headers of a part.
const MAX_HEAD: usize = 8 << 10;
/// Characters of a boundary (RFC 2046, section 5.1.1).
const MAX_BOUNDARY: usize = 70;

/// The fields of a body. A file is an object of `name`, `type`, `size` and `sha256`, and what else its disposition
/// says; JSON without a name is the fields that it has, and files without one are a list named `files`.
pub(crate) fn parse(content_type: &str, body: &[u8]) -> Result<Value, &'static str> {
    let boundary = parameter(content_type, "boundary").ok_or("the boundary is missing")?;
    if boundary.is_empty() || boundary.len() > MAX_BOUNDARY {
        return Err("the boundary is too short or too long");
    }
    let delimiter = format!("\r\n--{boundary}");
    // The first delimiter may have no line before it.
    let is_first = body.starts_with(&delimiter.as_bytes()[2..]);
    let first = if is_first {
        Some(delimiter.len() - 2)
    } else {
        memmem::find(body, delimiter.as_bytes()).map(|at| at + delimiter.len())
    };
    let first = first.ok_or("there is no part")?;
    let parts = memmem::find_iter(&body[first..], delimiter.as_bytes()).map(|at| first + at);
    let mut start = first;
    let (mut fields, mut root) = (form_urlencoded::Serializer::new(String::new()), Map::new());
    for (count, end) in parts.enumerate() {
        if count >= MAX_PARTS {
            return Err("there are too many parts");
        }
        take(&body[start..end], &mut fields, &mut root)?;
        start = end + delimiter.len();
    }
    if !body[start..].starts_with(b"--") {
        return Err("the last part does not end");
    }
    let fields = form::parse(fields.finish().as_bytes()).map_err(|error| match error {
        FormError::TooManyKeys => "there are too many fields",
        _ => "the names of fields cannot be read",
    })?;
    if let Value::Object(fields) = fields {
        root.extend(fields);
    }
    Ok(Value::Object(root))
}

/// Takes one part, which begins behind its delimiter.
fn take(
    part: &[u8],
    fields: &mut form_urlencoded::Serializer<'_, String>,
    root: &mut Map<String, Value>,
) -> Result<(), &'static str> {
    let window = &part[..part.len().min(MAX_HEAD)];
    let split = memmem::find(window, b"\r\n\r\n").ok_or("the headers of a part do not end")?;
    let (head, content) = (String::from_utf8_lossy(&part[..split]), &part[split + 4..]);
    let disposition = header(&head, "content-disposition").unwrap_or_default();
    let kind = header(&head, "content-type").unwrap_or_default();
    let (name, file) = (parameter(disposition, "name"), parameter(disposition, "filename"));
    match (name, file) {
        (Some(name), None) => {
            fields.append_pair(&name, &String::from_utf8_lossy(content));
        }
        (None, None) if kind.starts_with("application/json") => {
            let json = serde_json::from_slice(content).map_err(|_| "a part is no JSON")?;
            let Value::Object(json) = json else { return Err("a part is no JSON object") };
            root.extend(json);
        }
        (name, file) => {
            let mut about = json!({
                "name": file.unwrap_or_default(), "type": kind, "size": content.len(),
                "sha256": HEXLOWER.encode(digest(&SHA256, content).as_ref()),
            });
            if let Some(id) = parameter(disposition, "documentid") {
                about["documentId"] = json!(id);
            }
            match name {
                Some(name) => {
                    root.insert(name, about);
                }
                None => match root.entry("files").or_insert_with(|| json!([])) {
                    Value::Array(files) => files.push(about),
                    other => *other = json!([about]),
                },
            }
        }
    }
    Ok(())
}

/// The value of a header.
fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut named = lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
    named.next().map(|(_, value)| value.trim())
}

/// A parameter of a header's value, in quotes or not.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let (text, after) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => behind
                .split_once(';')
                .map_or((behind, ""), |(text, _)| (text, &behind[text.len()..])),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(text.trim().to_owned());
        }
        rest = after.trim_start().strip_prefix(';')?;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"xx\"";

    fn body(parts: &[&str]) -> Vec<u8> {
        let parts: Vec<_> = parts.iter().map(|part| format!("--xx\r\n{part}\r\n")).collect();
        format!("{}--xx--\r\n", parts.concat()).into_bytes()
    }

    #[test]
    fn fields_files_and_json_are_told_apart() {
        let parts = body(&[
            "Content-Disposition: form-data; name=\"location[ip_address]\"\r\n\r\n127.0.0.1",
            "content-disposition: form-data; name=file; filename=\"a;b.png\"\r\nContent-Type: image/png\r\n\r\n\r\n--x\r\n",
            "Content-Type: application/json\r\n\r\n{\"status\": \"sent\"}",
            "Content-Disposition: file; filename=\"c.pdf\"; documentid=1\r\nContent-Type: application/pdf\r\n\r\n%PDF",
        ]);
        let fields = parse(TYPE, &parts).unwrap();
        assert_eq!(
            (&fields["location"]["ip_address"], &fields["status"]),
            (&json!("127.0.0.1"), &json!("sent"))
        );
        let file = &fields["file"];
        assert_eq!(
            (&file["name"], &file["size"], &file["type"]),
            (&json!("a;b.png"), &json!(7), &json!("image/png"))
        );
        let hash = HEXLOWER.encode(digest(&SHA256, b"\r\n--x\r\n").as_ref());
        assert_eq!(file["sha256"], hash);
        assert_eq!(fields["files"][0]["documentId"], "1");
    }

    #[test]
    fn what_is_broken_is_refused() {
        let good = body(&["Content-Disposition: form-data; name=a\r\n\r\n1"]);
        let many = "Content-Disposition: form-data; name=a\r\n\r\n1";
        let cases = [
            ("multipart/form-data", good.clone()),
            ("multipart/form-data; boundary=", good.clone()),
            (&format!("multipart/form-data; boundary={}", "x".repeat(71)), good.clone()),
            ("multipart/form-data; boundary=yy", good.clone()),
            (TYPE, good[..good.len() - 4].to_vec()),
            (TYPE, body(&["no headers"])),
            (TYPE, body(&[&format!("A: {}\r\n\r\n1", "x".repeat(9_000))])),
            (TYPE, body(&vec![many; 1_001])),
            (TYPE, body(&["Content-Type: application/json\r\n\r\n[1]"])),
        ];
        for (kind, body) in cases {
            assert!(parse(kind, &body).is_err(), "{kind} {}", String::from_utf8_lossy(&body));
        }
        assert_eq!(parse(TYPE, &good).unwrap(), json!({"a": "1"}));
    }

    proptest! {
        #[test]
        fn any_bytes_are_fields_or_an_error(text in "(--xx|\r\n|Content-Disposition: form-data|; name=|a|\"|;|=|:| ){0,40}") {
            if let Ok(fields) = parse(TYPE, text.as_bytes()) {
                prop_assert!(fields.is_object());
            }
        }
    }
}
