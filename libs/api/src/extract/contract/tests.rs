#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde::Deserialize;
use serde_json::json;

use super::{testing::body_of, *};

#[derive(Debug, PartialEq, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Inner {
    is_on: bool,
}

#[derive(Debug, PartialEq, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Outer {
    #[schema(min_length = 2, max_length = 3, pattern = "^[a-zé]+$")]
    name: String,
    #[schema(nullable = false, minimum = 1, maximum = 10)]
    how_many: Option<u32>,
    #[schema(inline)]
    nullable: Option<Inner>,
    inner: Option<Inner>,
    even: Option<trapline_model::InboxId>,
    at: Option<trapline_model::Time>,
    #[schema(nullable = false, max_items = 2)]
    some: Option<Vec<Inner>>,
}

fn issues(value: Value) -> Vec<(String, &'static str)> {
    match body_of::<Outer>().body().unwrap().read::<Outer>(value) {
        Err(Error::App(AppError::Invalid(issues))) => {
            issues.into_iter().map(|issue| (issue.path, issue.code)).collect()
        }
        Err(error) => panic!("{error:?}"),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn values_keep_to_the_schema_or_every_issue_is_named() {
    let cases = [
        (json!({ "name": "abc" }), vec![]),
        (json!({ "name": "éé", "howMany": 10, "inner": { "isOn": true } }), vec![]),
        (json!({ "name": "ab", "inner": null, "nullable": null }), vec![]),
        (json!({}), vec![("name", "required")]),
        (json!([]), vec![("", "invalid_type")]),
        (json!(null), vec![("", "invalid_type")]),
        (json!({ "name": null }), vec![("name", "invalid_type")]),
        (json!({ "name": 7 }), vec![("name", "invalid_type")]),
        (json!({ "name": "a" }), vec![("name", "too_short")]),
        (json!({ "name": "abcd" }), vec![("name", "too_long")]),
        (json!({ "name": "a b" }), vec![("name", "invalid_format")]),
        (json!({ "name": "ab", "howMany": 0 }), vec![("howMany", "too_small")]),
        (json!({ "name": "ab", "howMany": -1 }), vec![("howMany", "too_small")]),
        (json!({ "name": "ab", "howMany": 11 }), vec![("howMany", "too_big")]),
        (json!({ "name": "ab", "howMany": u64::MAX }), vec![("howMany", "too_big")]),
        (json!({ "name": "ab", "howMany": 3.0 }), vec![]),
        (json!({ "name": "ab", "howMany": 1e300 }), vec![("howMany", "too_big")]),
        (json!({ "name": "ab", "howMany": 1.5 }), vec![("howMany", "invalid_type")]),
        (json!({ "name": "ab", "howMany": "1" }), vec![("howMany", "invalid_type")]),
        (json!({ "name": "ab", "howMany": null }), vec![("howMany", "invalid_type")]),
        (json!({ "name": "ab", "inner": {} }), vec![("inner.isOn", "required")]),
        (json!({ "name": "ab", "inner": { "isOn": 1 } }), vec![("inner.isOn", "invalid_type")]),
        (
            json!({ "name": "ab", "nullable": { "isOn": 1 } }),
            vec![("nullable.isOn", "invalid_type")],
        ),
        (json!({ "name": "ab", "even": "z" }), vec![("even", "too_short")]),
        (json!({ "name": "ab", "even": "v".repeat(26) }), vec![("even", "invalid_format")]),
        (json!({ "name": "ab", "some": [] }), vec![]),
        (json!({ "name": "ab", "some": {} }), vec![("some", "invalid_type")]),
        (json!({ "name": "ab", "some": [{ "isOn": true }, 1] }), vec![("some[1]", "invalid_type")]),
        (json!({ "name": "ab", "some": [{}] }), vec![("some[0].isOn", "required")]),
        (json!({ "name": "ab", "some": [1, 2, 3] }), vec![("some", "too_long")]),
        (json!({ "name": "ab", "some": null }), vec![("some", "invalid_type")]),
        (json!({ "name": "ab", "at": "today" }), vec![("at", "invalid_value")]),
        (
            json!({ "name": "", "howMany": 99, "x": 1, "inner": { "isOn": true, "y": 1 } }),
            vec![
                ("name", "too_short"),
                ("howMany", "too_big"),
                ("inner.y", "unknown"),
                ("x", "unknown"),
            ],
        ),
    ];
    for (value, wanted) in cases {
        let told = value.to_string();
        let wanted: Vec<_> =
            wanted.into_iter().map(|(path, code)| (path.to_owned(), code)).collect();
        assert_eq!(issues(value), wanted, "{told}");
    }
}
