//! Somebody who is signed in, as a browser is: by a cookie.

use serde_json::{Value, json};

use crate::{Answer, Rest};

/// A session.
#[derive(Debug, Clone)]
pub struct Person {
    /// What the cookie holds.
    token: String,
}

impl Person {
    /// Uses a one-time link, with this address where the link asks for one.
    pub async fn by_link(rest: &Rest, link: &str, email: Option<&str>, password: &str) -> Self {
        let mut body = json!({ "token": token_of(link), "password": password });
        if let Some(email) = email {
            body["email"] = json!(email);
        }
        Self::of(&rest.post("/api/auth/link", body).await.expect(200))
    }

    /// Signs in.
    pub async fn sign_in(rest: &Rest, email: &str, password: &str) -> Self {
        let body = json!({ "email": email, "password": password });
        Self::of(&rest.post("/api/auth/sign-in", body).await.expect(200))
    }

    /// The session that an answer has begun.
    #[track_caller]
    pub fn of(answer: &Answer) -> Self {
        let cookie = answer.header("set-cookie").split(';').next().unwrap_or_default();
        let token = cookie.split_once('=').map(|(_, token)| token.to_owned());
        Self { token: token.unwrap_or_else(|| panic!("no session begins: {answer}")) }
    }

    /// Asks as this person; `Value::Null` sends no body. `rest` is a client without a key. Processes have
    /// one name in front of them, and so one cookie; here each has a port, which is in the cookie's name.
    pub async fn ask(&self, rest: &Rest, method: &str, path: &str, body: Value) -> Answer {
        let cookie = format!("trapline-{}={}", rest.port(), self.token);
        let request = rest.request(method, path).header("cookie", cookie);
        Answer::to(if body.is_null() { request } else { request.json(&body) }).await
    }
}

/// The token of a link.
#[track_caller]
pub fn token_of(link: &str) -> &str {
    link.split_once("?token=").unwrap_or_else(|| panic!("{link} is no link")).1
}

/// Path and query of a link, which may name a server as an operator would reach it.
#[track_caller]
pub fn path_of(link: &str) -> &str {
    let rest = link.split_once("://").unwrap_or_else(|| panic!("{link} is no link")).1;
    &rest[rest.find('/').unwrap_or(rest.len())..]
}
