//! What holds for the table of every provider.

use std::collections::HashSet;

use serde_json::json;
use trapline_model::Time;

use super::World;
use crate::{
    ALL, CalledMock, Chance, Loaded, MockCall, MockSettings, context::CallContext,
    failure::CallFailure, provider::Provider,
};

/// Letters of a credential that are random, at least: 96 bits of hexadecimal digits.
const RANDOM_LETTERS: usize = 16;

#[test]
fn ids_are_each_their_own() {
    let ids: HashSet<_> = ALL.iter().map(|provider| provider.id).collect();
    assert_eq!(ids.len(), ALL.len());
}

#[test]
fn credentials_are_random_and_each_their_own() {
    for provider in ALL {
        let made = |seed| {
            provider.new_credentials(
                "0123456789abcd",
                &Chance::new([seed; 32]),
                Time::from_millis(0),
            )
        };
        let (one, other) = (made(1), made(2));
        assert!(provider.credential("secretKey").is_some(), "{}", provider.id);
        let main = provider.credentials[0].name;
        assert!(one[main].len() >= RANDOM_LETTERS && one[main] != other[main], "{}", provider.id);
        let values: HashSet<_> = one.values().chain(other.values()).collect();
        assert_eq!(values.len(), one.len() * 2, "{}", provider.id);
    }
}

#[test]
fn every_failure_has_the_providers_words() {
    for provider in ALL {
        let decline = provider.declines.first();
        let declined = decline.map(|it| CallFailure::Declined(it, json!({})));
        let kind = provider.kinds.first().map_or("", |kind| kind.name);
        let failures = [
            CallFailure::Unauthorized,
            CallFailure::NotFound { kind, id: "x".to_owned(), field: "id" },
            CallFailure::NoRoute,
            CallFailure::missing("amount"),
            CallFailure::KeyReused { key: "k".to_owned() },
            CallFailure::TooLarge,
            CallFailure::RateLimited { after: 3 },
            CallFailure::Server,
            CallFailure::Unavailable,
        ];
        let mut said = HashSet::new();
        for failure in failures.into_iter().chain(declined) {
            let reply = said_by(provider, &failure);
            assert!(reply.status >= 400, "{}: {failure:?}", provider.id);
            assert!(said.insert((reply.status, reply.body)), "{}: {failure:?}", provider.id);
        }
        let limited = said_by(provider, &CallFailure::RateLimited { after: 3 });
        let waits =
            limited.headers.iter().any(|(name, value)| name == "retry-after" && value == "3");
        assert!(limited.status == 429 && waits, "{}", provider.id);
    }
}

fn said_by(provider: &'static Provider, failure: &CallFailure) -> crate::MockReply {
    let (call, loaded, chance) = (MockCall::default(), Loaded::default(), Chance::new([3; 32]));
    let settings = MockSettings::of(provider, &json!({})).unwrap();
    let mock = CalledMock {
        provider,
        credentials: &std::collections::BTreeMap::new(),
        settings: &settings,
        settings_at: Time::from_millis(0),
        revision: 1,
        webhook_url: None,
        base_url: "http://mocks.test",
        pages: super::PAGES,
        call_id: "call",
        now: Time::from_millis(0),
    };
    (provider.error)(failure, &CallContext::new(&mock, &call, &loaded, &chance))
}

#[test]
fn a_stranger_is_refused_and_an_unknown_path_is_none() {
    for provider in ALL {
        let mut world = World::of(provider.id);
        let mut call = world.request("GET", "/no/such/path", "");
        assert_eq!(world.call(&call).reply.status, 404, "{}", provider.id);
        let refused = said_by(provider, &CallFailure::Unauthorized).status;
        call.headers[1].1.push('x');
        assert_eq!(world.call(&call).reply.status, refused, "{}", provider.id);
        call.headers.clear();
        assert_eq!(world.call(&call).reply.status, refused, "{}", provider.id);
    }
}

#[test]
fn snippets_name_values_of_the_mock_only() {
    for provider in ALL {
        let world = World::of(provider.id);
        assert!(provider.snippets.iter().any(|snippet| snippet.language == "curl"));
        for snippet in provider.snippets {
            let base = "http://mocks.test/mock/0123456789abcd";
            let text = crate::filled(snippet.template, base, &world.credentials);
            assert!(!text.contains("{{"), "{}: {text}", provider.id);
        }
    }
}

#[test]
fn prefixes_of_ids_are_each_their_own() {
    for provider in ALL {
        let prefixes = provider.kinds.iter().map(|kind| kind.prefix).filter(|it| !it.is_empty());
        let prefixes: Vec<_> = prefixes.collect();
        let distinct: HashSet<_> = prefixes.iter().collect();
        assert_eq!(distinct.len(), prefixes.len(), "{}", provider.id);
    }
}

#[test]
fn what_happens_without_a_call_is_of_the_table() {
    for provider in ALL {
        let Some(simulation) = crate::providers::simulation(provider) else { continue };
        for flow in simulation.flows {
            assert!(provider.kind(flow.kind).is_some(), "{}", flow.kind);
            assert!(flow.steps.iter().all(|step| step.from != step.to), "{}", flow.kind);
        }
        for trigger in simulation.triggers {
            assert!(provider.hooks.events.contains(&trigger.event), "{}", trigger.event);
        }
    }
}
