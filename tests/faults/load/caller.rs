//! Apps that call a mock of another provider's API: each call counts once, and what was made stays.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::Value;

use super::{Load, ledger::Kind};

const PACE: Duration = Duration::from_secs(1);
const CUSTOMERS: &str = "/v1/customers";

/// Makes one customer after another until the round ends.
pub(super) async fn call(load: Arc<Load>, number: usize) {
    for n in 0.. {
        if load.is_stopped() {
            break;
        }
        make(&load, number, &format!("call-{number}-{n:05}.")).await;
        tokio::time::sleep(PACE).await;
    }
}

/// Makes a customer, again with the same key at another process, and reads it at the next.
async fn make(load: &Load, number: usize, key: &str) {
    let (began, mut tries) = (Instant::now(), 0);
    let Some(id) = made(load, number, key, &mut tries).await else { return };
    load.ledger.made(key, &id);
    let mut worst = tries;
    tries = 0;
    let Some(again) = made(load, number + 1, key, &mut tries).await else { return };
    worst = tries.max(worst);
    if again != id {
        load.ledger.wrong(format!("{key} made {id}, and then {again}"));
    }
    tries = 0;
    let path = format!("{CUSTOMERS}/{id}");
    let Some(read) = asked(load, number, &path, None, &mut tries).await else { return };
    if read["description"] != key {
        load.ledger.wrong(format!("{id} of {key} reads {read}"));
    }
    load.ledger.done(Kind::Mock, number, began, tries.max(worst));
}

async fn made(load: &Load, number: usize, key: &str, tries: &mut usize) -> Option<String> {
    let customer = asked(load, number, CUSTOMERS, Some(key), tries).await?;
    Some(customer["id"].as_str().unwrap_or_default().to_owned())
}

/// Calls until there is an answer that is not "try again"; each further try is at the next process. With a key
/// something is made.
async fn asked(
    load: &Load,
    number: usize,
    path: &str,
    key: Option<&str>,
    tries: &mut usize,
) -> Option<Value> {
    let (slug, secret) = &load.mock;
    let path = format!("/mock/{slug}{path}");
    let request = |number| match key {
        Some(key) => load
            .at(number, Method::POST, &path)
            .header("idempotency-key", key)
            .form(&[("description", key)]),
        None => load.at(number, Method::GET, &path),
    };
    let (status, body) =
        load.repeat(number, tries, |number| request(number).bearer_auth(secret)).await?;
    if status != 200 {
        let body = String::from_utf8_lossy(&body);
        load.ledger.wrong(format!("{path} for {key:?} answered {status}: {body}"));
        return None;
    }
    Some(serde_json::from_slice(&body).unwrap_or_default())
}
