//! What a provider asks of an address of webhooks before it trusts it: Xero's intent to receive.

use serde_json::{Value, json};
use trapline_tests::{Answer, Rest, eventually, shared};

use super::apps::App;
use crate::webhooks::receiver::{Act, Receiver};

impl App {
    async fn makes_contact(&self, name: &str) {
        let tenant = self.mock["credentials"]["tenantId"].as_str().unwrap();
        let request = self.one().request("PUT", "/api.xro/2.0/Contacts");
        let body = json!({ "Contacts": [{ "Name": name }] });
        Answer::to(request.header("xero-tenant-id", tenant).json(&body)).await.expect(200);
    }
}

/// Deliveries of an event to an address, as status, answer and error.
async fn sent(team: &Rest, app: &App, event: &str, url: &str) -> Vec<(String, Value, Value)> {
    let path = format!("{}/webhooks?event={event}", app.path());
    let found = team.get(&path).await.expect(200).json();
    let to_url = found.as_array().unwrap().iter().filter(|found| found["url"] == url);
    let shown = to_url.map(|found| {
        let status = found["status"].as_str().unwrap().to_owned();
        (status, found["httpStatus"].clone(), found["error"].clone())
    });
    let mut shown: Vec<_> = shown.collect();
    shown.sort_by_key(|(_, status, _)| status.as_u64());
    shown
}

#[tokio::test]
async fn a_strict_mock_sends_events_to_an_app_that_checks_signatures() {
    let (team, app) = (shared().rest(), App::of(&shared(), "xero", "accessToken").await);
    let settings = json!({ "strict": true, "webhooks": { "retry": "off" } });
    team.patch(&app.path(), json!({ "settings": settings })).await.expect(200);

    let careless = Receiver::start(&[Act::answer(200)]).await;
    team.patch(&app.path(), json!({ "webhookUrl": careless.url() })).await.expect(200);
    let asked = |url: String| {
        let (team, app) = (&team, &app);
        async move {
            eventually("the handshake", async || {
                let asked = sent(team, app, "intent_to_receive", &url).await;
                asked.iter().all(|(status, ..)| status != "pending").then_some(asked)
            })
            .await
        }
    };
    let ok = |status: u16| ("succeeded".to_owned(), json!(status), Value::Null);
    let not_checked = ("failed".to_owned(), json!(200), json!("unexpected_status"));
    let mut found = asked(careless.url()).await;
    found.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    assert_eq!(found, [not_checked, ok(200)]);
    app.makes_contact("Ada Ltd").await;
    let held = eventually("an event that waits", async || {
        let held = sent(&team, &app, "CONTACT.CREATE", &careless.url()).await;
        held.first().filter(|(status, ..)| status == "failed").cloned()
    })
    .await;
    assert_eq!(held, ("failed".to_owned(), Value::Null, json!("handshake_missing")));
    assert_eq!(careless.requests().len(), 2, "it was asked twice, and told nothing");

    let key = app.mock["credentials"]["webhookKey"].as_str().unwrap().to_owned();
    let careful = Receiver::start(&[Act::Check("x-xero-signature", key)]).await;
    team.patch(&app.path(), json!({ "webhookUrl": careful.url() })).await.expect(200);
    assert_eq!(asked(careful.url()).await, [ok(200), ok(401)]);
    app.makes_contact("Bob Ltd").await;
    eventually("an event", async || {
        let told = sent(&team, &app, "CONTACT.CREATE", &careful.url()).await;
        (told == [ok(200)]).then_some(())
    })
    .await;
}
