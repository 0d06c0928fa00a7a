//! What is there at the end, beside what was promised.

use std::collections::BTreeMap;

use serde_json::Value;
use trapline_tests::{Deployment, Rest, sha256_hex};

use crate::{
    ledger::{KEPT, Lasting},
    traffic::Traffic,
};

const PAGE: usize = 200;
/// Faults that are worth reading.
const SHOWN: usize = 20;

/// All that lasts: each message once and whole, and nothing else; and the webhook was called.
pub(crate) async fn everything(server: &Deployment, traffic: &Traffic) -> Vec<String> {
    let rest = server.rest();
    let mut faults = traffic.ledger.faults.clone();
    for lasting in &traffic.lasting {
        faults.extend(inbox(&rest, lasting).await);
    }
    let mut missing = traffic.hooks.missing(&traffic.ledger.told);
    for _ in 0..600 {
        if missing == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        missing = traffic.hooks.missing(&traffic.ledger.told);
    }
    if missing > 0 {
        faults.push(format!("the webhook was not called for {missing} messages"));
    }
    faults.truncate(SHOWN);
    faults
}

async fn inbox(rest: &Rest, lasting: &Lasting) -> Vec<String> {
    let (listed, mut faults) = (list(rest, lasting).await, Vec::new());
    let kept = lasting.kept();
    let deleted = listed.keys().filter(|id| lasting.deleted.contains(id.as_str()));
    faults.extend(deleted.map(|id| format!("{id} was deleted and is listed")));
    if listed.len() > KEPT {
        faults.push(format!("an inbox of {KEPT} messages lists {}", listed.len()));
    }
    for (id, hash) in kept {
        if !listed.contains_key(id) {
            faults.push(format!("{id} was accepted and is not listed"));
        }
        let raw = rest.get(&format!("/api/messages/{id}/raw")).await;
        if lasting.damaged.contains(id) {
            if raw.status != 500 || raw.json()["code"] != "damaged" {
                faults.push(format!("the bytes of {id} are damaged, which is not said: {raw}"));
            }
        } else if raw.status != 200 || sha256_hex(&raw.body) != hash {
            faults.push(format!("{id} is not what was sent: {}", raw.status));
        }
    }
    faults
}

/// Every message that the inbox lists, by id.
async fn list(rest: &Rest, lasting: &Lasting) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for page in 1.. {
        let path = lasting.inbox.path(&format!("/messages?limit={PAGE}&page={page}"));
        let list = rest.get(&path).await.expect(200).json();
        let messages = list["messages"].as_array().unwrap();
        for message in messages {
            all.insert(message["id"].as_str().unwrap().to_owned(), message.clone());
        }
        if messages.len() < PAGE {
            break;
        }
    }
    all
}

/// Nothing of what ended can be reached.
pub(crate) async fn nothing_ended_is_left(server: &Deployment, traffic: &Traffic) -> Vec<String> {
    let rest = server.rest();
    let mut faults = Vec::new();
    for path in traffic.ledger.ended.iter().flatten() {
        let answer = rest.get(path).await;
        if answer.status != 404 {
            faults.push(format!("{path} should be gone: {}", answer.status));
        }
    }
    let listed = rest.get("/api/inboxes").await.expect(200).json();
    let listed = listed.as_array().map_or(0, Vec::len);
    // Those of this test, and the first one.
    if listed > traffic.lasting.len() + 1 {
        faults.push(format!("{listed} inboxes are listed"));
    }
    faults.truncate(SHOWN);
    faults
}
