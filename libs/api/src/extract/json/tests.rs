#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::{body::Body as Bytes, extract::DefaultBodyLimit, response::IntoResponse};

use super::*;
use crate::extract::contract::testing::{body_of, taken};

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    name: String,
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    project_id: Option<Option<String>>,
}

async fn read(kind: Option<&str>, body: &str) -> Result<Input> {
    let mut request = axum::http::Request::post("/");
    if let Some(kind) = kind {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    let mut request = request.body(Bytes::from(body.to_owned())).unwrap();
    DefaultBodyLimit::max(100).apply(&mut request);
    request.extensions_mut().insert(taken(body_of::<Input>(), ""));
    Body::from_request(request, &()).await.map(|Body(input)| input)
}

#[tokio::test]
async fn a_body_is_json_of_the_right_kind_and_size() {
    let json = Some("application/json");
    let good = r#"{"name":"a"}"#;
    let long = format!(r#"{{"name":"{}"}}"#, "a".repeat(100));
    let cases = [
        (json, good, 200),
        (Some("application/json; charset=utf-8"), good, 200),
        (Some("APPLICATION/JSON"), good, 200),
        (Some("application/merge-patch+json"), good, 200),
        (None, good, 415),
        (Some("text/plain"), good, 415),
        (Some("application/jsonp"), good, 415),
        (Some("json"), good, 415),
        (Some("text/plain"), "{", 415),
        (json, "", 400),
        (json, "{", 400),
        (json, "[]", 400),
        (json, r#"{"name":"a"} x"#, 400),
        (json, r#"{"name":"a","other":1}"#, 400),
        (json, long.as_str(), 413),
    ];
    for (kind, body, wanted) in cases {
        let status = match read(kind, body).await {
            Ok(_) => 200,
            Err(error) => error.into_response().status().as_u16(),
        };
        assert_eq!(status, wanted, "{kind:?} {body:?}");
    }
}

#[tokio::test]
async fn null_is_not_the_same_as_left_out() {
    let cases = [
        (r#"{"name":"a"}"#, None),
        (r#"{"name":"a","projectId":null}"#, Some(None)),
        (r#"{"name":"a","projectId":"p"}"#, Some(Some("p".to_owned()))),
    ];
    for (body, wanted) in cases {
        let input = read(Some("application/json"), body).await.unwrap();
        assert_eq!((input.name.as_str(), input.project_id), ("a", wanted), "{body}");
    }
}
