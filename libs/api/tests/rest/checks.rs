//! Checks that ask others, and what is refused of them.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use trapline_app::{
    AuthDns, AuthMail, AuthUnreadable, Authenticator, LinkVisit, LinkVisitor, Settings,
};
use trapline_model::{AuthReport, DnsSource};
use url::Url;

use crate::Service;

/// To whom every address works.
struct Reached;

#[async_trait]
impl LinkVisitor for Reached {
    async fn visit(&self, urls: &[Url], deadline: Duration) -> Vec<Option<LinkVisit>> {
        let mut visits = Vec::new();
        for url in urls {
            visits.push(Some(self.one_click(url, deadline).await));
        }
        visits
    }

    async fn one_click(&self, _: &Url, _: Duration) -> LinkVisit {
        LinkVisit { redirects: Vec::new(), answer: Ok(204), took: Duration::from_millis(1) }
    }
}

#[async_trait]
impl Authenticator for Reached {
    async fn authenticate(
        &self,
        mail: AuthMail,
        _: AuthDns,
        _: Duration,
    ) -> Result<AuthReport, AuthUnreadable> {
        Ok(AuthReport::unknown(mail.now, DnsSource::None, "no_dns"))
    }
}

impl Service {
    /// Lets checks ask whom they want.
    pub(crate) fn reach_all(&self) {
        self.app.checks().set_visitor(Arc::new(Reached));
        self.app.checks().set_authenticator(Arc::new(Reached));
    }
}

#[tokio::test]
async fn a_team_may_ask_thirty_times_a_minute() {
    let service = Service::start().await;
    service.reach_all();
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await;
    let path = format!("/api/messages/{}/link-check", message["id"].as_str().unwrap());
    for _ in 0..30 {
        let answer = service.post(&path, json!({})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let path = format!("/api/messages/{}/unsubscribe", message["id"].as_str().unwrap());
    let answer = service.post(&path, Value::Null).await;
    assert_eq!(answer.code(), (429, "rate_limited".to_owned()));
    service.clock.advance(crate::minutes(1));
    assert_eq!(service.post(&path, Value::Null).await.status, 200);
}

#[tokio::test]
async fn links_that_a_message_does_not_have_are_refused() {
    let service = Service::start().await;
    service.reach_all();
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await;
    let path = format!("/api/messages/{}/link-check", message["id"].as_str().unwrap());
    let answer = service.post(&path, json!({ "urls": ["https://other.example/"] })).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["issues"][0]["code"], "unknown_link");
}

#[tokio::test]
async fn nobody_is_asked_where_the_operator_says_so() {
    let settings = Settings { outgoing_checks: false, ..Settings::default() };
    let service = Service::with(settings).await;
    service.reach_all();
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await;
    let path = format!("/api/messages/{}", message["id"].as_str().unwrap());
    let refused = (409, "checks_disabled".to_owned());
    assert_eq!(service.post(&format!("{path}/link-check"), json!({})).await.code(), refused);
    assert_eq!(service.post(&format!("{path}/unsubscribe"), Value::Null).await.code(), refused);
    assert_eq!(service.get(&format!("{path}/auth?dns=true")).await.code(), refused);
    assert_eq!(service.get(&format!("{path}/auth")).await.status, 200);
    let overview = service.get("/api/checks").await;
    assert_eq!(overview.json()["outgoing"], false);
}
