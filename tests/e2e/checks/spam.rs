//! The spam score.

use trapline_tests::{Mail, deliver, shared};

const GTUBE: &str = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";

#[tokio::test]
async fn a_message_has_a_spam_score_and_the_rules_behind_it() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("WIN A PRIZE!!", GTUBE)).await;
    let path = format!("/api/messages/{id}/spam");
    let report = rest.get(&path).await.expect(200).json();
    assert_eq!(
        (&report["engine"], &report["engineVersion"]),
        (&"builtin".into(), &"builtin/1".into())
    );
    assert_eq!((report["isSpam"].as_bool(), report["threshold"].as_f64()), (Some(true), Some(5.0)));
    let rules = report["rules"].as_array().unwrap();
    assert_eq!((&rules[0]["name"], rules[0]["score"].as_f64()), (&"GTUBE".into(), Some(1000.0)));
    let points: f64 = rules.iter().map(|rule| rule["score"].as_f64().unwrap()).sum();
    assert!((points - report["score"].as_f64().unwrap()).abs() < 1e-9, "{report}");
    assert!(rules.iter().all(|rule| rule["description"].as_str().unwrap().ends_with('.')));
    let named = rest.get(&format!("{path}?engine=builtin")).await.expect(200).json();
    assert_eq!((&named["score"], &named["rules"]), (&report["score"], &report["rules"]));
}

#[tokio::test]
async fn other_engines_and_deleted_messages_have_no_score() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "Hello")).await;
    let path = format!("/api/messages/{id}/spam");
    let refused = rest.get(&format!("{path}?engine=rspamd")).await.expect(400).json();
    assert_eq!(refused["issues"][0]["code"], "engine_not_configured");
    rest.get(&path).await.expect(200);
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    rest.get(&path).await.expect(404);
}
