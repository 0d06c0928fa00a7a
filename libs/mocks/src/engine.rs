//! How a call is answered: who asks, what is told to go wrong, the route, the key of the call, the handler, and
//! what is sent.

mod sending;

use std::collections::BTreeMap;

use serde_json::json;
use trapline_model::Time;

use crate::{
    Chance, Loaded, MockCall, MockReply, MockSettings, Outgoing, Provider, Want, Write, WriteLife,
    auth,
    context::CallContext,
    decode,
    failure::{CallFailure, Halt},
    flow, idempotency, packing, route, scenario,
    settings::ErrorKind,
};

/// The most bytes that one call may write, packed where they are more: CQL servers refuse batches of 50 KiB.
const MAX_WRITTEN: usize = 40 << 10;

/// The mock that is called, as it is now.
pub struct CalledMock<'a> {
    /// What it is a mock of.
    pub provider: &'static Provider,
    /// Its credentials by name.
    pub credentials: &'a BTreeMap<String, String>,
    /// Its settings.
    pub settings: &'a MockSettings,
    /// When these were last changed.
    pub settings_at: Time,
    /// The number of that change; `next` starts anew with each.
    pub revision: i64,
    /// Where it sends what happens.
    pub webhook_url: Option<&'a str>,
    /// Its address by the way in which the call came, without a slash at the end.
    pub base_url: &'a str,
    /// The pages on which people decide.
    pub pages: HostedPages<'a>,
    /// A time-ordered text that names the call.
    pub call_id: &'a str,
    /// The time.
    pub now: Time,
}

/// Where the pages of a mock are, and what makes their addresses.
#[derive(Debug, Clone, Copy)]
pub struct HostedPages<'a> {
    /// The mock's address in a browser, without a slash at the end.
    pub base_url: &'a str,
    /// A secret of the mock, which proves its pages.
    pub key: &'a str,
}

/// What a run of a call came to.
#[derive(Debug)]
pub enum CallOutcome {
    /// These have to be read first.
    Need(Vec<Want>),
    /// It is answered.
    Done(Box<CallAnswer>),
}

/// What the connection does instead of giving the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// It gives none for 60 seconds, and closes.
    Timeout,
    /// It closes without one.
    Reset,
    /// It gives half of it.
    Malformed,
}

/// The answer to a call, and all that follows from it.
#[derive(Debug)]
pub struct CallAnswer {
    /// What is answered.
    pub reply: MockReply,
    /// What is written; all of it or nothing.
    pub writes: Vec<Write>,
    /// Ids of the objects that were read or written.
    pub touched: Vec<String>,
    /// The route, as `POST /v1/refunds`.
    pub operation: Option<String>,
    /// What was told to go wrong, as the API calls it.
    pub fault: Option<String>,
    /// What the connection does.
    pub injected: Option<InjectedFault>,
    /// Milliseconds before the answer.
    pub delay_ms: u64,
    /// Whether it is the answer of an earlier call with the same key.
    pub replayed: bool,
    /// Secrets that may be in the answer, beside the mock's own.
    pub secrets: Vec<String>,
    /// Whether anything is to be sent or done later; the row `~out` of the call has what.
    pub sends: bool,
}

/// Answers a call as far as what was read allows.
#[must_use]
pub fn run(
    mock: &CalledMock<'_>,
    call: &MockCall,
    loaded: &Loaded,
    chance: &Chance,
) -> CallOutcome {
    match repeatable(mock, call, loaded, chance) {
        Ok(None) => answered(CallContext::new(mock, call, loaded, chance)),
        Ok(Some((number, chance))) => {
            let mut context = CallContext::new(mock, call, loaded, &chance);
            context.write_row("~number", "calls", Some(number.to_string()));
            answered(context)
        }
        Err(wants) => CallOutcome::Need(wants),
    }
}

/// The provider's answer while what it keeps does not answer, or is changed by others again and again.
#[must_use]
pub fn unavailable(mock: &CalledMock<'_>, call: &MockCall) -> MockReply {
    said(mock, call, &CallFailure::Unavailable)
}

/// The provider's answer where too much is asked, and how many seconds a client is to wait.
#[must_use]
pub fn limited(mock: &CalledMock<'_>, call: &MockCall, after: u64) -> MockReply {
    said(mock, call, &CallFailure::RateLimited { after })
}

fn said(mock: &CalledMock<'_>, call: &MockCall, failure: &CallFailure) -> MockReply {
    let (loaded, chance) = (Loaded::default(), Chance::new([0; 32]));
    let context = CallContext::new(mock, call, &loaded, &chance);
    let mut reply = (mock.provider.error)(failure, &context);
    (mock.provider.finish)(&mut reply, &context);
    reply
}

/// The number of this call and its source of chance, where the settings have a seed.
fn repeatable(
    mock: &CalledMock<'_>,
    call: &MockCall,
    loaded: &Loaded,
    chance: &Chance,
) -> Result<Option<(u64, Chance)>, Vec<Want>> {
    let Some(seed) = mock.settings.seed else { return Ok(None) };
    let mut context = CallContext::new(mock, call, loaded, chance);
    match context.number("calls") {
        Ok(number) => Ok(Some((number, Chance::repeatable(seed, number)))),
        Err(_) => Err(context.wants()),
    }
}

/// What is found out about a call on the way to its answer.
#[derive(Default)]
struct CallProgress {
    operation: Option<String>,
    told: scenario::Told,
    replayed: bool,
    /// Whether the provider has decided, so that what was written holds.
    decided: bool,
}

fn answered(mut context: CallContext<'_>) -> CallOutcome {
    let mut progress = CallProgress::default();
    let reply = match attempt(&mut context, &mut progress) {
        Ok(reply) => Ok(reply),
        Err(Halt::Load) => return CallOutcome::Need(context.wants()),
        Err(Halt::Failed(failure)) => Err(failure),
    };
    if !progress.decided {
        context.undo();
    }
    let reply = reply.unwrap_or_else(|failure| (context.provider.error)(&failure, &context));
    finished(context, progress, reply)
}

/// The reply, with the rest of what every answer of the provider has.
fn finished(
    mut context: CallContext<'_>,
    progress: CallProgress,
    mut reply: MockReply,
) -> CallOutcome {
    let Ok(outgoing) = outgoing(&mut context) else { return CallOutcome::Need(context.wants()) };
    let (writes, sends) = written(&mut context, &outgoing).unwrap_or_else(|| {
        reply = (context.provider.error)(&CallFailure::TooLarge, &context);
        (Vec::new(), false)
    });
    (context.provider.finish)(&mut reply, &context);
    let injected = progress.told.fault.and_then(injected);
    CallOutcome::Done(Box::new(CallAnswer {
        reply,
        writes,
        touched: context.touched,
        operation: progress.operation,
        fault: fault_name(&progress.told),
        injected,
        delay_ms: progress.told.delay_ms,
        replayed: progress.replayed,
        secrets: context.secrets,
        sends,
    }))
}

/// What is written, and whether anything follows from it; none where it is too much for one write.
pub(crate) fn written(
    context: &mut CallContext<'_>,
    outgoing: &Outgoing,
) -> Option<(Vec<Write>, bool)> {
    let goes_on = *outgoing != Outgoing::default();
    if goes_on {
        let doc = json!(outgoing).to_string();
        context.write_row_for("~out", context.mock.call_id, Some(doc), WriteLife::Event);
    }
    let mut writes = context.writes();
    packing::fit(&mut writes, MAX_WRITTEN).then_some((writes, goes_on))
}

fn attempt(context: &mut CallContext<'_>, progress: &mut CallProgress) -> Result<MockReply, Halt> {
    if context.call.is_cut || context.call.body.len() > context.provider.max_body {
        return Err(CallFailure::TooLarge.into());
    }
    let body = decode::body(context.call, context.provider.max_body);
    let known = auth::is_known(
        context.provider,
        context.mock.credentials,
        context.call,
        body.as_ref().ok(),
    );
    let matched = route::find(context.provider, &context.call.method, &context.call.path);
    progress.operation = matched.as_ref().map(route::Matched::operation);
    if !known {
        return Err(CallFailure::Unauthorized.into());
    }
    progress.told = scenario::told(context)?;
    if let Some(failure) = progress.told.failure() {
        return Err(failure.into());
    }
    if let Some(code) = progress.told.decline.clone() {
        context.decline = Some(code);
    }
    let matched = matched.ok_or(CallFailure::NoRoute)?;
    context.body = body?;
    context.query = decode::query(context.call)?;
    context.parameters = matched.parameters;
    let (key, replayed) = idempotency::look_up(context)?;
    if let Some(reply) = replayed {
        progress.replayed = true;
        return Ok(reply);
    }
    let reply = match (matched.route.2)(context) {
        Err(Halt::Failed(failure @ CallFailure::Declined(..))) => {
            (context.provider.error)(&failure, context)
        }
        other => other?,
    };
    progress.decided = true;
    if let Some(key) = key {
        idempotency::remember(context, key, &reply);
    }
    Ok(reply)
}

fn injected(fault: ErrorKind) -> Option<InjectedFault> {
    match fault {
        ErrorKind::Timeout => Some(InjectedFault::Timeout),
        ErrorKind::Reset => Some(InjectedFault::Reset),
        ErrorKind::Malformed => Some(InjectedFault::Malformed),
        _ => None,
    }
}

fn fault_name(told: &scenario::Told) -> Option<String> {
    if told.wait.is_some() {
        return Some("rate_limit".to_owned());
    }
    let fault = told.fault.and_then(|fault| json!(fault).as_str().map(str::to_owned));
    fault.or_else(|| told.decline.as_ref().map(|code| format!("decline: {code}")))
}

/// What follows from a call: the steps of what it moved, and what is sent of its events.
pub(crate) fn outgoing(context: &mut CallContext<'_>) -> Result<Outgoing, Halt> {
    let steps = flow::go_on(context)?;
    Ok(Outgoing { events: sending::sent(context)?, steps })
}
