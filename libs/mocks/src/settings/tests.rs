#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;

use super::*;

fn stripe() -> &'static Provider {
    crate::find("stripe").unwrap()
}

#[test]
fn a_patch_replaces_resets_and_leaves() {
    let mut set = json!({"decline": "a", "webhooks": {"delayMs": 5, "duplicate": 1}});
    merge(&mut set, &json!({"decline": null, "webhooks": {"delayMs": 7}, "seed": 1}));
    assert_eq!(set, json!({"webhooks": {"delayMs": 7, "duplicate": 1}, "seed": 1}));
    merge(&mut set, &json!({"webhooks": null, "next": [{"fault": "server"}]}));
    assert_eq!(set, json!({"seed": 1, "next": [{"fault": "server"}]}));
}

#[test]
fn what_cannot_be_is_named_with_what_can() {
    let cases = [
        (json!({"latency": 1}), "latency", "latencyMs"),
        (json!({"latencyMs": "slow"}), "latencyMs", ""),
        (json!({"latencyMs": 30_001}), "latencyMs", "30000"),
        (json!({"latencyMs": {"min": 2, "max": 1}}), "latencyMs", "min"),
        (json!({"errorRate": 1.5}), "errorRate", "0 to 1"),
        (json!({"errorKind": "gone"}), "errorKind", "unavailable"),
        (json!({"decline": "no"}), "decline", "insufficient_funds"),
        (json!({"next": [{}]}), "next.0", "fault"),
        (json!({"next": [{"fault": "server", "times": 0}]}), "next.0", "times"),
        (json!({"next": [{"decline": "no"}]}), "next.0", "insufficient_funds"),
        (json!({"rateLimit": {"perMinute": 0}}), "rateLimit.perMinute", "from 1"),
        (json!({"webhooks": {"events": ["x"]}}), "webhooks.events", "payment_intent.succeeded"),
        (json!({"webhooks": {"duplicate": 6}}), "webhooks.duplicate", "5"),
        (json!({"webhooks": {"often": 6}}), "webhooks", "duplicate"),
        (json!({"clock": {}}), "clock", "offsetSeconds"),
        (json!({"seed": -1}), "seed", ""),
        (json!({"code": "123"}), "code", "apiVersion"),
    ];
    for (set, path, word) in cases {
        let issues = MockSettings::of(stripe(), &set).unwrap_err();
        assert_eq!(issues.len(), 1, "{set}: {issues:?}");
        assert_eq!(issues[0].path, path, "{set}");
        assert!(issues[0].message.contains(word), "{}", issues[0].message);
    }
}

#[test]
fn what_nobody_set_is_shown_at_its_default() {
    let shown = serde_json::to_value(MockSettings::of(stripe(), &json!({})).unwrap()).unwrap();
    for name in COMMON {
        assert!(shown.get(name).is_some(), "{name}");
    }
    assert_eq!(shown["webhooks"]["enabled"], true);
    assert!(shown["apiVersion"].as_str().unwrap().starts_with("20"));
}
