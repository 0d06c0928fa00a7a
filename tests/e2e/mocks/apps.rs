//! An app whose calls of a mock go to every process.

use futures_util::future::join_all;
use reqwest::RequestBuilder;
use serde_json::Value;
use trapline_tests::{Answer, Deployment, Rest};

use super::{mock, objects};

/// Calls at once.
pub(super) const AT_ONCE: usize = 64;

/// A mock, and the app that calls it: one client for each process that serves the API.
pub(super) struct App {
    pub(super) mock: Value,
    team: Rest,
    clients: Vec<Rest>,
}

impl App {
    /// A new mock. `credential` is the name of the one that its calls carry.
    pub(super) async fn of(server: &Deployment, provider: &str, credential: &str) -> Self {
        let team = server.rest();
        let mock = mock(&team, provider).await;
        let secret = mock["credentials"][credential].as_str();
        let clients = clients(server, &mock, secret);
        Self { mock, team, clients }
    }

    /// The same mock called with another credential.
    pub(super) fn with(&self, server: &Deployment, secret: &str) -> Self {
        let clients = clients(server, &self.mock, Some(secret));
        Self { mock: self.mock.clone(), team: self.team.clone(), clients }
    }

    /// The path of the mock in the API.
    pub(super) fn path(&self) -> String {
        format!("/api/mocks/{}", self.mock["id"].as_str().unwrap())
    }

    /// The first of its clients.
    pub(super) fn one(&self) -> &Rest {
        &self.clients[0]
    }

    /// The answers to one call at each process.
    pub(super) async fn each(&self, call: impl Fn(&Rest) -> RequestBuilder) -> Vec<Answer> {
        join_all(self.clients.iter().map(|client| Answer::to(call(client)))).await
    }

    /// The answers to the same call, made so many times at once, at all processes in turn.
    pub(super) async fn raced(&self, call: impl Fn(&Rest) -> RequestBuilder) -> Vec<Answer> {
        let in_turn = self.clients.iter().cycle().take(AT_ONCE);
        join_all(in_turn.map(|client| Answer::to(call(client)))).await
    }

    /// What the mock keeps of a kind.
    pub(super) async fn objects(&self, kind: &str) -> Vec<Value> {
        objects(&self.team, &self.mock, kind).await
    }
}

fn clients(server: &Deployment, mock: &Value, secret: Option<&str>) -> Vec<Rest> {
    let slug = mock["slug"].as_str().unwrap();
    server.api().iter().map(|api| Rest::new(&format!("{api}/mock/{slug}"), secret)).collect()
}

/// How many answers have a status.
pub(super) fn with_status(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}
