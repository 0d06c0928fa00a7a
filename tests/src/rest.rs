//! A client of the REST API that shows the whole exchange when an answer is not what was expected.

use std::net::IpAddr;

use bytes::Bytes;
use reqwest::{
    Method, RequestBuilder,
    header::{HeaderMap, LOCATION},
};
use serde_json::Value;

use crate::{Events, GUARD};

/// A client with one key, or with none. Make one in each test: its connections belong to the
/// test's runtime.
#[derive(Debug, Clone)]
pub struct Rest {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

impl Rest {
    /// A client of the API at `base`, an address without `/api`.
    pub fn new(base: &str, key: Option<&str>) -> Self {
        Self { http: client(None), base: base.to_owned(), key: key.map(str::to_owned) }
    }

    /// The same client at another address of this machine, such as each of 127.0.0.0/8.
    pub fn at(&self, address: IpAddr) -> Self {
        Self { http: client(Some(address)), ..self.clone() }
    }

    /// The port of the API.
    pub(crate) fn port(&self) -> &str {
        self.base.rsplit(':').next().unwrap_or_default()
    }

    /// A request to be completed by the caller. `path` may be a whole URL.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let url =
            if path.starts_with('/') { format!("{}{path}", self.base) } else { path.to_owned() };
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.http.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// `GET path`
    pub async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request("GET", path).timeout(2 * GUARD)).await
    }

    /// `GET path?query`
    pub async fn query(&self, path: &str, query: &[(&str, &str)]) -> Answer {
        Answer::to(self.request("GET", path).query(query)).await
    }

    /// `POST path` with a JSON body; `Value::Null` sends none.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, body).await
    }

    /// `PATCH path` with a JSON body; `Value::Null` sends none.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, body).await
    }

    /// `DELETE path`
    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, Value::Null).await
    }

    /// Any method with a JSON body; `Value::Null` sends none.
    pub async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        let request = self.request(method, path);
        Answer::to(if body.is_null() { request } else { request.json(&body) }).await
    }

    /// Opens an event stream.
    pub async fn events(&self, path: &str, last: Option<&str>) -> Events {
        let mut request = self.request("GET", path).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        Events::open(request.send().await.unwrap())
    }
}

fn client(address: Option<IpAddr>) -> reqwest::Client {
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    builder.local_address(address).build().unwrap()
}

/// An answer, read whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The header fields.
    pub headers: HeaderMap,
    /// The bytes of the body.
    pub body: Bytes,
    request: String,
}

impl Answer {
    /// Sends a request and reads the answer.
    pub async fn to(request: RequestBuilder) -> Self {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let what = format!("{} {}", request.method(), request.url());
        let answer = client.execute(request).await;
        let answer = answer.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = answer.bytes().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        Self { status, headers, body, request: what }
    }

    /// The same where the server may be gone: `None` without a whole answer.
    pub async fn attempt(request: RequestBuilder) -> Option<Self> {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let what = format!("{} {}", request.method(), request.url());
        let answer = client.execute(request).await.ok()?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Some(Self { status, headers, body: answer.bytes().await.ok()?, request: what })
    }

    /// The answer, if it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self}");
        self
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{self}: {error}"))
    }

    /// The body as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_else(|error| panic!("{self}: {error}"))
    }

    /// A header field, or `""`.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Checks the shape that every error has.
    #[track_caller]
    pub fn error(self, status: u16) -> Self {
        let answer = self.expect(status);
        let message = &answer.json()["error"];
        assert!(message.as_str().is_some_and(|text| !text.is_empty()), "{answer}");
        assert!(answer.headers.get(LOCATION).is_none(), "{answer}");
        answer
    }

    /// The `path` of each validation issue.
    #[track_caller]
    pub fn issues(&self) -> Vec<String> {
        let body = self.json();
        let issues = body["issues"].as_array().unwrap_or_else(|| panic!("no issues in {self}"));
        for issue in issues {
            for part in ["code", "message"] {
                assert!(issue[part].as_str().is_some_and(|text| !text.is_empty()), "{self}");
            }
        }
        issues.iter().map(|issue| issue["path"].as_str().unwrap().to_owned()).collect()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(2_000).collect();
        write!(f, "{} answered {}: {body}", self.request, self.status)
    }
}
