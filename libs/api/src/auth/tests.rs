#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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

#[test]
fn the_allowance_is_written_as_the_draft_says() {
    let rate = Rate { burst: 600, per: Duration::from_mins(1) };
    let written = |decision| {
        let mut headers = HeaderMap::new();
        write_allowance(&mut headers, rate, decision);
        assert_eq!(headers["ratelimit-policy"], "\"api\";q=600;w=60");
        headers["ratelimit"].to_str().unwrap().to_owned()
    };
    assert_eq!(written(RateDecision::Allowed { remaining: 590 }), "\"api\";r=590;t=1");
    assert_eq!(written(RateDecision::Allowed { remaining: 300 }), "\"api\";r=300;t=30");
    let retry_after = Duration::from_millis(2100);
    assert_eq!(written(RateDecision::Limited { retry_after }), "\"api\";r=0;t=3");
}
