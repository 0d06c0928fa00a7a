#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};

use super::*;

#[test]
fn the_built_in_plans_are_good() {
    let catalog = PlanCatalog::parse(PlanCatalog::built_in_json()).unwrap();
    assert_eq!(catalog, PlanCatalog::default());
    let ids: Vec<_> = catalog.plans().iter().map(|plan| plan.id.as_str()).collect();
    assert_eq!(ids, ["free", "team", "business", "unlimited"]);
    assert_eq!(catalog.default_plan().id, Team::UNLIMITED);
    for plan in catalog.plans() {
        assert_eq!(plan.includes(PlanFeature::Webhooks), plan.id != "free", "{}", plan.id);
        let is_unlimited = PlanLimit::ALL.iter().all(|limit| plan.most(*limit).is_none());
        assert_eq!(is_unlimited, plan.id == "unlimited", "{}", plan.id);
    }
    // A greater plan has more of everything.
    for limit in PlanLimit::ALL {
        let most = catalog.plans().iter().map(|plan| plan.most(limit).unwrap_or(u64::MAX));
        let most: Vec<_> = most.collect();
        assert!(most.is_sorted() && most[0] < most[3], "{limit}");
    }
}

#[test]
fn limits_have_their_places() {
    for (place, limit) in PlanLimit::ALL.iter().enumerate() {
        assert_eq!(*limit as usize, place);
    }
}

#[test]
fn every_mistake_is_reported_at_once() {
    let mut file: Value = serde_json::from_str(PlanCatalog::built_in_json()).unwrap();
    file["plans"][0]["id"] = json!("Free!");
    file["plans"][0]["name"] = json!("");
    file["plans"][1]["limits"]["inboxes"] = json!(0);
    file["plans"][1]["limits"]["messagesPerMonth"] = json!("many");
    file["plans"][1]["limits"].as_object_mut().unwrap().remove("members");
    file["plans"][1]["limits"]["inboxs"] = json!(3);
    file["plans"][2]["features"] = json!(["webhook"]);
    file["plans"][2]["id"] = json!("unlimited");
    file["plans"][2]["price"] = json!(5);
    file["plan"] = json!({});
    let mistakes = PlanCatalog::parse(&file.to_string()).unwrap_err().join("\n");
    for mistake in [
        "the file: there is no field plan",
        "plans[0].id: wants up to 40 lower-case letters, digits and hyphens",
        "plans[0].name: wants 1 to 100 characters",
        "plans[1].limits.inboxes: wants null or 1 to",
        "plans[1].limits.messagesPerMonth: wants null or 1 to",
        "plans[1].limits.members: is missing; null is no limit",
        "plans[1].limits: there is no field inboxs",
        "plans[2].features: there is no feature \"webhook\"; there are: webhooks",
        "plans[2]: there is no field price",
        "plans: unlimited is there twice",
    ] {
        assert!(mistakes.contains(mistake), "{mistake} in {mistakes}");
    }
}

#[test]
fn other_files_are_no_plans() {
    for (text, wanted) in [
        ("", "EOF"),
        ("[]", "the file: wants an object with default, plans"),
        (r#"{"default":"a","plans":{}}"#, "plans: wants a list"),
        (r#"{"default":"a","plans":[]}"#, "plans: wants 1 to 100 plans"),
        (r#"{"default":"a","plans":[1]}"#, "plans[0]: wants an object"),
    ] {
        let mistakes = PlanCatalog::parse(text).unwrap_err().join("\n");
        assert!(mistakes.contains(wanted), "{wanted} in {mistakes}");
    }
    let mut file: Value = serde_json::from_str(PlanCatalog::built_in_json()).unwrap();
    file["default"] = json!("gold");
    let mistakes = PlanCatalog::parse(&file.to_string()).unwrap_err();
    assert_eq!(mistakes, ["default: wants the id of one of the plans"]);
}
