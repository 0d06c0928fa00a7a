//! Somebody pays on a mock's page in a browser, and comes back to the app.

use serde_json::Value;
use trapline_tests::shared;

use super::{call, mock};
use crate::{
    tools::{node, run},
    webhooks::receiver::{Act, Receiver},
};

/// `<script>document.title='ran'</script><img src=x onerror="document.title='ran'">`
const HOSTILE: &str = "%3Cscript%3Edocument.title%3D'ran'%3C/script%3E%3Cimg src%3Dx onerror%3D%22document.title%3D'ran'%22%3E";

/// Opens a page, presses a button of it, and tells where that led.
async fn pressed(url: &str, button: &str) -> Value {
    let mut browser = node("node/press.cjs");
    browser.args([url, button]);
    let report = run(browser).await;
    serde_json::from_str(&report).expect(&report)
}

#[tokio::test]
async fn somebody_pays_in_a_browser() {
    let server = shared();
    let (mock, app) =
        (mock(&server.rest(), "stripe").await, Receiver::start(&[Act::answer(200)]).await);
    let done = format!("{}?s={{CHECKOUT_SESSION_ID}}", app.url());
    let cart = app.url();
    let form = [
        ("success_url", done.as_str()),
        ("cancel_url", &cart),
        ("line_items[0][price_data][currency]", "usd"),
        ("line_items[0][price_data][unit_amount]", "1250"),
        ("line_items[0][price_data][product_data][name]", HOSTILE),
    ];
    let session = call(&mock, "/v1/checkout/sessions", &form).await.expect(200).json();
    let report = pressed(session["url"].as_str().unwrap(), "Pay").await;
    assert_eq!(report["title"], "Test page", "nothing ran: {report}");
    let landed = format!("{}?s={}", app.url(), session["id"].as_str().unwrap());
    assert_eq!(report["landed"], landed, "{report}");
    // The page, its button, and the app: nothing else was asked for.
    assert_eq!(report["requests"].as_array().unwrap().len(), 3, "{report}");
}
