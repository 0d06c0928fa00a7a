//! Pages for people: without scripts, and with nothing from elsewhere.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use trapline_app::{Issue, escape_html};

use crate::layers::{Next, ResponseFuture};

/// The most bytes of an error that are read; the service's own have a few hundred.
const ERROR_BYTES: usize = 64 * 1024;

/// What pages may do that have a form and nothing else.
pub(crate) const FORM_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How pages look that have a form.
pub(crate) const FORM_STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:32em;\
     margin:3em auto;padding:0 1em;overflow-wrap:anywhere}h1{font-size:1.3em}\
     label{display:block;margin:1em 0}input{display:block;width:100%;box-sizing:border-box;\
     font:inherit;padding:.5em}button{font:inherit;font-weight:bold;padding:.6em 1.2em;border:0;\
     border-radius:.4em;background:#1d4ed8;color:#fff}";

/// What is wrong with what a form brought, for whoever filled it in.
pub(crate) fn issues_text(issues: &[Issue]) -> String {
    let lines = issues.iter().map(|issue| format!("{} {}", issue.path, issue.message));
    lines.collect::<Vec<_>>().join("; ")
}

/// A page; `body` is HTML, title and style are the service's own words.
pub(crate) fn html(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{style}</style></head><body><main>{body}</main></body></html>"
    )
}

/// A kind of page whose address holds a secret, so that nobody keeps it or is told of it.
pub(crate) struct SecretPage {
    pub title: &'static str,
    pub style: &'static str,
    /// The Content-Security-Policy.
    pub policy: &'static str,
    /// The Referrer-Policy: what the address is told to.
    pub referrer: &'static str,
}

impl SecretPage {
    /// Answers with such a page.
    pub(crate) fn answer(&self, status: StatusCode, body: &str) -> Response {
        let fixed = HeaderValue::from_static;
        let headers = [
            (header::CONTENT_TYPE, fixed("text/html; charset=utf-8")),
            (header::CONTENT_SECURITY_POLICY, fixed(self.policy)),
            (header::REFERRER_POLICY, fixed(self.referrer)),
            (header::CACHE_CONTROL, fixed("private, no-store")),
        ];
        (status, headers, html(self.title, self.style, body)).into_response()
    }

    /// A layer that answers what goes wrong as such a page, in the words and with the fields that other
    /// clients get: whatever comes here is shown to somebody.
    pub(crate) fn error_layer(&'static self) -> impl Fn(Request, Next) -> ResponseFuture + Clone {
        move |request, next| {
            let work = next.run(request);
            Box::pin(async move { self.as_page(work.await).await })
        }
    }

    async fn as_page(&self, answer: Response) -> Response {
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if is_page || !(answer.status().is_client_error() || answer.status().is_server_error()) {
            return answer;
        }
        let (head, body) = answer.into_parts();
        let again = head.headers.get(header::RETRY_AFTER).and_then(|time| time.to_str().ok());
        let again = again.map_or_else(String::new, |seconds| {
            format!("<p>Try again in {} s.</p>", escape_html(seconds))
        });
        let words = escape_html(&error_text(body).await);
        let body = format!("<h1>This did not work</h1><p role=\"alert\">{words}.</p>{again}");
        let mut page = self.answer(head.status, &body);
        let mut headers = head.headers;
        headers.remove(header::CONTENT_LENGTH);
        headers.extend(std::mem::take(page.headers_mut()));
        *page.headers_mut() = headers;
        page
    }
}

/// What an error says to people.
async fn error_text(body: Body) -> String {
    #[derive(Deserialize)]
    struct Told {
        error: String,
    }
    let body = to_bytes(body, ERROR_BYTES).await.unwrap_or_default();
    let told = serde_json::from_slice(&body).map(|Told { error }| error);
    told.unwrap_or_else(|_| "The request is not right".to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use trapline_app::Error as AppError;

    use super::*;
    use crate::error::Error;

    const PAGE: SecretPage =
        SecretPage { title: "T", style: "", policy: FORM_POLICY, referrer: "no-referrer" };

    async fn shown(answer: Response) -> (u16, String, String) {
        let answer = PAGE.as_page(answer).await;
        let again = answer.headers().get("retry-after").map_or("", |time| time.to_str().unwrap());
        let (status, again) = (answer.status().as_u16(), again.to_owned());
        let body = to_bytes(answer.into_body(), ERROR_BYTES).await.unwrap();
        (status, again, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn what_goes_wrong_is_told_by_a_page() {
        let retry_after = Duration::from_secs(3);
        let invalid = Error::from(AppError::invalid("a", "b", "c")).into_response();
        for (answer, status, again, words) in [
            (Error::from(AppError::TooMany { retry_after }).into_response(), 429, "3", "Too many"),
            (Error::from(AppError::Unavailable).into_response(), 503, "1", "not available"),
            (Error::MethodNotAllowed.into_response(), 405, "", "this method"),
            (invalid, 400, "", "Invalid request"),
            ((StatusCode::BAD_REQUEST, "<script>").into_response(), 400, "", "is not right"),
        ] {
            let (found, time, page) = shown(answer).await;
            assert_eq!((found, time.as_str()), (status, again), "{page}");
            assert!(page.starts_with("<!DOCTYPE html>") && page.contains(words), "{page}");
            assert!(!page.contains("<script"), "{page}");
        }
    }

    #[tokio::test]
    async fn pages_and_what_went_well_stay() {
        let (_, _, page) = shown(PAGE.answer(StatusCode::NOT_FOUND, "<h1>Own words</h1>")).await;
        assert!(page.contains("Own words"), "{page}");
        assert_eq!(shown("{}".into_response()).await.2, "{}");
    }
}
