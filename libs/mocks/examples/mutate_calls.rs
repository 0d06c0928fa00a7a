//! Many mutated calls of mocks: none makes a decoder or a provider panic, hang, grow or answer what it must not.
//! Arguments: how many, and a seed number.

#[path = "../../../tests/fuzz/calls.rs"]
mod calls;
#[path = "../../../tests/fuzz/campaign.rs"]
mod campaign;
#[path = "mutate_calls/hostile.rs"]
mod hostile;
#[path = "../../../tests/fuzz/mutation.rs"]
mod mutation;
#[path = "mutate_calls/seeds.rs"]
mod seeds;
#[path = "mutate_calls/world.rs"]
mod world;

use std::process::ExitCode;

use calls::{Call, Session};
use mutation::{Mutator, Random};
use trapline_mocks::{
    CallAnswer, MockCall, MockReply, Outgoing, StoredObject, page, plain_body, redacted_body,
    redacted_headers,
};
use world::{World, Worlds};

/// Steps that one call sets going.
const MAX_STEPS: usize = 16;
/// Bytes that one call may write together: CQL servers refuse batches of 50 KiB.
const MAX_WRITTEN: usize = 40 << 10;
/// Bytes of a reply. What is listed is bounded by what one call may write.
const MAX_REPLY: usize = 64 << 20;

fn main() -> ExitCode {
    let worlds = Worlds::new();
    let bombs = hostile::bombs();
    let mutator = Mutator::new(seeds::all(), seeds::TOKENS);
    campaign::run("calls", &mutator, |input, random| check(&worlds, &bombs, input, random))
}

/// An input names a provider, and has the calls of its mock.
fn check(worlds: &Worlds, bombs: &[Vec<u8>], input: &[u8], random: &mut Random) {
    let session = Session::of(input);
    let mut world = worlds.of(&session.name, random);
    for text in &session.calls {
        let call = sent(session.call(text, &world.words), bombs, random);
        let answer = world.call(&call);
        judge(&world, &call, &answer);
        world.keep(&answer.writes);
        world.words.remember(answer.reply.body.as_bytes());
        go_on(&mut world);
    }
}

/// The call on its way; now and then compressed, cut, or with a bomb for a body.
fn sent(call: Call, bombs: &[Vec<u8>], random: &mut Random) -> MockCall {
    let Call { method, path, query, mut headers, mut body } = call;
    let fate = random.below(256);
    if fate < 16 {
        headers.insert(0, ("content-encoding".to_owned(), "gzip".to_owned()));
        body = if fate == 0 { random.pick(bombs).clone() } else { hostile::gzip(&body) };
    }
    MockCall { method, path, query, headers, body, is_cut: random.below(512) == 0 }
}

/// What holds for every answer.
fn judge(world: &World, call: &MockCall, answer: &CallAnswer) {
    let MockReply { status, headers, body } = &answer.reply;
    assert!((200..500).contains(status), "{status} {body}");
    assert!(body.len() <= MAX_REPLY, "{} bytes", body.len());
    for (name, value) in headers {
        let is_clean = |text: &str| !text.chars().any(char::is_control);
        assert!(is_clean(name) && is_clean(value), "{name}: {value:?}");
        if name == "content-type" && value.starts_with("application/json") && !body.is_empty() {
            assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "{body}");
        }
    }
    let together = answer.writes.iter().filter(|write| !write.life.is_apart());
    let size: usize = together.map(|write| write.doc.as_ref().map_or(0, String::len)).sum();
    assert!(size <= MAX_WRITTEN, "{size} bytes are written");
    for object in answer.writes.iter().filter_map(|write| write.doc.as_ref()) {
        if let Ok(object) = serde_json::from_str::<StoredObject>(object) {
            let _shown = page(world.provider, &object);
        }
    }
    judge_log(world, call);
}

/// The log of calls shows no credential.
fn judge_log(world: &World, call: &MockCall) {
    let plain = plain_body(call, world.provider.max_body);
    let text = String::from_utf8_lossy(&plain);
    let shown = redacted_body(&text, world.provider, &world.credentials);
    let headers = redacted_headers(&call.headers, &world.credentials);
    for secret in world.credentials.values().filter(|secret| secret.len() >= 8) {
        assert!(!shown.contains(secret), "{shown}");
        assert!(!headers.iter().any(|(_, value)| value.contains(secret)), "{headers:?}");
    }
}

/// Takes the steps that the last call set going.
fn go_on(world: &mut World) {
    for _ in 0..MAX_STEPS {
        let Some(Outgoing { steps, .. }) = world.out() else { return };
        let Some(step) = steps.first() else { return };
        let writes = world.step(step);
        world.keep(&writes);
    }
}
