//! The ways to a mock, and the pages on which a person decides.

use std::time::Duration;

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_app::{Rate, Settings};

use super::{FORM, INTENTS, PAID, SESSION, SESSIONS};
use crate::{Answer, Service, settings};

/// The host by which the base URL of the tests is known.
const OTHER_HOST: &str = "trapline:8025";

impl Service {
    /// A call that finds its mock by something else than the path.
    async fn found(&self, mock: &Value, host: &str, path: &str, form: &str) -> Answer {
        let key = mock["credentials"]["secretKey"].as_str().unwrap();
        let request = Request::post(path)
            .header("host", host)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", FORM);
        self.ask(request.body(Body::from(form.to_owned())).unwrap()).await
    }

    async fn shown(&self, url: &str, body: Option<&str>) -> Answer {
        let path = &url[url.find("/mock/").unwrap()..];
        let request = match body {
            None => Request::get(path).body(Body::empty()),
            Some(body) => {
                Request::post(path).header("content-type", FORM).body(Body::from(body.to_owned()))
            }
        };
        self.ask(request.unwrap()).await
    }

    async fn session(&self, mock: &Value, form: &str) -> (Value, String) {
        let session = self.call(mock, "POST", SESSIONS, form).await.json();
        let url = session["url"].as_str().unwrap_or_else(|| panic!("{session}")).to_owned();
        (session, url)
    }

    async fn via(&self, mock: &Value) -> String {
        let path = format!("/api/mocks/{}/calls", mock["id"].as_str().unwrap());
        self.get(&path).await.json()["calls"][0]["via"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_credential_finds_its_mock_where_no_path_of_ours_is() {
    let service = Service::start().await;
    let (mock, other) = (
        service.mock(json!({ "name": "M", "provider": "stripe" })).await,
        service.mock(json!({ "name": "O", "provider": "stripe" })).await,
    );
    let session = service.found(&mock, OTHER_HOST, SESSIONS, SESSION).await;
    let page = session.json()["url"].as_str().unwrap().to_owned();
    let wanted = format!("http://{OTHER_HOST}/mock/{}/_/", mock["slug"].as_str().unwrap());
    assert!(page.starts_with(&wanted), "{page}");
    assert_eq!(service.via(&mock).await, "credential");
    assert_eq!(service.shown(&page, None).await.status, 200);
    // A credential opens nothing but its own mock, and none of our paths.
    let objects = format!("/api/mocks/{}/objects", other["id"].as_str().unwrap());
    assert_eq!(service.get(&objects).await.json(), json!([]));
    assert_eq!(service.found(&mock, OTHER_HOST, "/api/nothing", "").await.status, 404);
    let rotate = format!("/api/mocks/{}/rotate", mock["id"].as_str().unwrap());
    service.post(&rotate, json!({ "credential": "secretKey" })).await;
    let refused = service.found(&mock, OTHER_HOST, INTENTS, PAID).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["type"]),
        (401, &json!("invalid_request_error"))
    );
    let unknown = json!({ "credentials": { "secretKey": format!("sk_test_{}", "0".repeat(38)) } });
    let nobody = service.found(&unknown, OTHER_HOST, INTENTS, PAID).await;
    assert_eq!(nobody.code(), (404, "mock_not_found".to_owned()));
}

#[tokio::test]
async fn a_host_name_finds_its_mock_once_there_is_a_domain() {
    let with_domain = Settings { mock_domain: Some("mocks.test".to_owned()), ..settings(None) };
    let service = Service::with(with_domain).await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let address = mock["addresses"]["host"].as_str().unwrap();
    let host = address.split_once("://").unwrap().1;
    assert!(host.starts_with(&format!("{}.mocks.test", mock["slug"].as_str().unwrap())), "{host}");
    let session = service.found(&mock, host, SESSIONS, SESSION).await;
    let page = session.json()["url"].as_str().unwrap().to_owned();
    assert!(page.starts_with(&format!("{address}/_/sessions/")), "{page}");
    assert_eq!(service.via(&mock).await, "host");
    let none = service.found(&mock, "00000000000000.mocks.test", INTENTS, PAID).await;
    assert_eq!(none.code(), (404, "mock_not_found".to_owned()));
    let without = Service::start().await;
    let mock = without.mock(json!({ "name": "M", "provider": "stripe" })).await;
    assert!(mock["addresses"]["host"].is_null());
}

#[tokio::test]
async fn somebody_pays_on_a_page_and_comes_back() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let (session, url) = service.session(&mock, SESSION).await;
    let page = service.shown(&url, None).await;
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert!(text.contains("Pay 12.50 USD") && text.contains("Tea") && !text.contains("<script"));
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("sandbox allow-forms; default-src 'none'; style-src 'sha256-"));
    assert!(policy.contains("form-action http"), "{policy}");
    let path = format!("{SESSIONS}/{}", session["id"].as_str().unwrap());
    assert_eq!(service.call(&mock, "GET", &path, "").await.json()["status"], "open");
    for wrong in [
        url.replace("?k=", "?k=0"),
        url.replace("cs_test_", "cs_test_0"),
        url.replace("sessions", "payments"),
    ] {
        for body in [None, Some("to=complete")] {
            assert_eq!(service.shown(&wrong, body).await.status, 404, "{wrong}");
        }
    }
    assert_eq!(service.shown(&url, Some("to=expired")).await.status, 200);
    let paid = service.shown(&url, Some("to=complete")).await;
    assert_eq!((paid.status, paid.header("location")), (303, "https://app.example/done"));
    assert_eq!(service.call(&mock, "GET", &path, "").await.json()["payment_status"], "paid");
    let again = service.shown(&url, Some("to=complete")).await;
    assert_eq!((again.status, again.header("location")), (303, "https://app.example/done"));
    let charges = format!("/api/mocks/{}/objects?kind=charges", mock["id"].as_str().unwrap());
    assert_eq!(service.get(&charges).await.json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_page_shows_hostile_words_as_text_and_leads_to_no_script() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let name = "%3Cscript%3Ealert(1)%3C/script%3E%22%3E%3Cimg src=x%3E";
    let (_, url) = service.session(&mock, &SESSION.replace("Tea", name)).await;
    let text = String::from_utf8(service.shown(&url, None).await.body).unwrap();
    assert!(text.contains("&lt;script&gt;") && !text.contains("<script") && !text.contains("<img"));
    for field in ["https://app.example/done", "https://app.example/cart"] {
        for bad in
            ["javascript:alert(1)", "data:text/html,x", "//evil.example", "ftp://evil.example"]
        {
            let refused = service.call(&mock, "POST", SESSIONS, &SESSION.replace(field, bad)).await;
            assert_eq!(refused.status, 400, "{bad}");
        }
    }
    let decline = json!({ "settings": { "decline": "lost_card" } });
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    service.with_key(&service.key, "PATCH", &path, &decline).await;
    let declined = service.shown(&url, Some("to=complete")).await;
    let text = String::from_utf8(declined.body).unwrap();
    assert!(declined.status == 200 && text.contains("role=\"alert\""), "{text}");
}

#[tokio::test]
async fn a_teams_mocks_are_called_so_often_and_the_api_is_no_part_of_it() {
    let rate = Some(Rate { burst: 2, per: Duration::from_mins(1) });
    let service = Service::with(Settings { mock_rate: rate, ..settings(None) }).await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    for _ in 0..2 {
        assert_eq!(service.call(&mock, "GET", INTENTS, "").await.status, 200);
    }
    let refused = service.call(&mock, "GET", INTENTS, "").await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!("rate_limit")));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(service.get("/api/mocks").await.status, 200);
    service.clock.advance(Duration::from_mins(1));
    assert_eq!(service.call(&mock, "GET", INTENTS, "").await.status, 200);
}
