#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::http::HeaderValue;

use super::*;

#[test]
fn bearer_tokens_are_found_and_nothing_else() {
    let cases = [
        ("Bearer tl_abc", Some("tl_abc")),
        ("bearer tl_abc", Some("tl_abc")),
        ("BEARER   tl_abc ", Some("tl_abc")),
        ("Basic dGw6YQ==", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("Bearertl_abc", None),
        ("tl_abc", None),
        ("", None),
    ];
    for (value, token) in cases {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
        assert_eq!(bearer(&headers), token, "{value:?}");
    }
    assert_eq!(bearer(&HeaderMap::new()), None);
    let binary = HeaderValue::from_bytes(b"Bearer \xff").unwrap();
    assert_eq!(bearer(&HeaderMap::from_iter([(header::AUTHORIZATION, binary)])), None);
}
