#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::extract::contract::testing::{query_of, taken};

#[derive(Debug, PartialEq, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
struct Input {
    #[param(max_length = 3)]
    q: Option<String>,
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    is_on: Flag,
    #[param(minimum = 1, maximum = 200)]
    page: Option<u16>,
}

async fn read(query: &str) -> Input {
    let mut parts = axum::http::Request::new(()).into_parts().0;
    parts.extensions.insert(taken(query_of::<Input>(), query));
    Params::from_request_parts(&mut parts, &()).await.unwrap().0
}

#[tokio::test]
async fn queries_are_read() {
    let input = |q: Option<&str>, is_on, page| Input { q: q.map(str::to_owned), is_on, page };
    let cases = [
        ("", input(None, Flag::Off, None)),
        ("q=a%20b&isOn=true&page=200", input(Some("a b"), Flag::On, Some(200))),
        ("q=%C3%A9+1&isOn=1", input(Some("é 1"), Flag::On, None)),
        ("q=&isOn=0&page=01", input(Some(""), Flag::Off, Some(1))),
        ("q=12&isOn=false", input(Some("12"), Flag::Off, None)),
    ];
    for (query, wanted) in cases {
        assert_eq!(read(query).await, wanted, "{query}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    let cases: [(&str, &[(&str, &str)]); 10] = [
        ("x=1", &[("x", "unknown")]),
        ("=1", &[("", "unknown")]),
        ("page=0", &[("page", "too_small")]),
        ("page=201", &[("page", "too_big")]),
        ("page=99999999999999999999", &[("page", "invalid_type")]),
        ("page=1.5", &[("page", "invalid_type")]),
        ("page=", &[("page", "invalid_type")]),
        ("isOn=yes", &[("isOn", "invalid_type")]),
        ("page=1&page=2", &[("page", "repeated")]),
        ("q=abcd&page=0&x=", &[("q", "too_long"), ("page", "too_small"), ("x", "unknown")]),
    ];
    for (query, wanted) in cases {
        let (_, issues) = query_of::<Input>().read(query);
        let found: Vec<_> = issues.iter().map(|issue| (issue.path.as_str(), issue.code)).collect();
        assert_eq!(found, wanted, "{query}");
    }
}

#[tokio::test]
async fn a_handler_gets_nothing_that_was_not_checked() {
    let mut parts = axum::http::Request::new(()).into_parts().0;
    let read = Params::<Input>::from_request_parts(&mut parts, &()).await;
    assert!(matches!(read, Err(Error::Undescribed)));
}

#[test]
fn a_signed_url_is_told_by_its_parameters() {
    let cases = [
        (None, false),
        (Some("images=1"), false),
        (Some("images=1&sig=ab"), true),
        (Some("exp=1"), true),
        (Some("%65xp=1"), true),
        (Some("sigs=1"), false),
    ];
    for (query, wanted) in cases {
        assert_eq!(has_parameter(query, &["exp", "sig"]), wanted, "{query:?}");
    }
}
