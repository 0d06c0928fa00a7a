#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::http::HeaderMap;
use serde_json::Value;
use trapline_store::PortError;

use super::*;

async fn answer(error: Error) -> (u16, HeaderMap, Value) {
    let response = error.into_response();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, headers, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn every_error_has_its_status_and_code() {
    let cases = [
        (AppError::Unauthenticated(Unauthenticated::Missing).into(), 401, "missing_api_key"),
        (AppError::Unauthenticated(Unauthenticated::Unknown).into(), 401, "unknown_api_key"),
        (AppError::Unauthenticated(Unauthenticated::Expired).into(), 401, "api_key_expired"),
        (AppError::Forbidden(Forbidden::ReadOnlyKey).into(), 403, "read_only_key"),
        (AppError::Forbidden(Forbidden::BadSignature).into(), 403, "bad_signature"),
        (AppError::NotFound.into(), 404, "not_found"),
        (AppError::Conflict.into(), 409, "conflict"),
        (AppError::TooManyStreams { of_team: true }.into(), 429, "rate_limited"),
        (AppError::TooManyStreams { of_team: false }.into(), 429, "rate_limited"),
        (AppError::TooMany { retry_after: Duration::from_secs(1) }.into(), 429, "rate_limited"),
        (
            AppError::TooManyInboxes { most: 9, retry_after: Duration::from_secs(1) }.into(),
            429,
            "rate_limited",
        ),
        (AppError::Unavailable.into(), 503, "unavailable"),
        (AppError::from(PortError::Damaged("s".to_owned())).into(), 500, "damaged"),
        (AppError::from(PortError::Misuse("s")).into(), 500, "internal"),
        (AppError::from(PortError::StorageFull).into(), 503, "storage_full"),
        (Error::invalid("name", "required", "is required"), 400, "invalid_request"),
        (Error::TooLarge, 413, "payload_too_large"),
        (Error::UnsupportedMediaType, 415, "unsupported_media_type"),
        (Error::NoSuchPath(None), 404, "no_such_path"),
        (Error::NoSuchPath(Some("/api/inboxes".to_owned())), 404, "no_such_path"),
        (Error::MethodNotAllowed, 405, "method_not_allowed"),
        (Error::WaitTimeout(Vec::new()), 408, "wait_timeout"),
        (Error::MetricsToken, 401, "invalid_metrics_token"),
        (Error::Panicked, 500, "internal"),
        (Error::Undescribed, 500, "internal"),
    ];
    for (error, status, code) in cases {
        let told = format!("{error:?}");
        let (found, headers, body) = answer(error).await;
        assert_eq!((found, body["code"].as_str()), (status, Some(code)), "{told}");
        assert!(body["error"].as_str().is_some_and(|text| !text.is_empty()), "{told}");
        assert_eq!(headers.contains_key("www-authenticate"), status == 401, "{told}");
        assert_eq!(headers.contains_key("retry-after"), [429, 503].contains(&status), "{told}");
    }
}

#[tokio::test]
async fn details_are_told_and_faults_are_not() {
    let (_, _, body) = answer(Error::invalid("a.b", "too_big", "must be at most 3")).await;
    let issue = &body["issues"][0];
    assert_eq!((&issue["path"], &issue["code"]), (&"a.b".into(), &"too_big".into()));
    let fault = AppError::from(PortError::Damaged("secret".to_owned()));
    let (_, _, body) = answer(fault.into()).await;
    assert!(!body.to_string().contains("secret"), "{body}");
    let (_, headers, _) = answer(AppError::Unauthenticated(Unauthenticated::Missing).into()).await;
    assert_eq!(headers["www-authenticate"], "Bearer");
}

#[test]
fn a_retry_is_never_too_early() {
    let cases = [(0, 1), (1, 1), (999, 1), (1000, 1), (1001, 2), (59_900, 60)];
    for (millis, seconds) in cases {
        assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds, "{millis} ms");
    }
}
