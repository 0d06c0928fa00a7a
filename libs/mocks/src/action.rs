//! What happens to a mock without a call: a step by time or by a person, and what comes from outside.

use serde_json::Value;

use crate::{
    CalledMock, Chance, DueStep, Loaded, MockCall, StoredObject, Want, Write,
    context::CallContext,
    engine,
    failure::{CallFailure, Halt},
    flow::{self, Flow, FlowStep, StepActor},
    providers::simulation,
};

/// What is to happen.
#[derive(Debug, Clone, Copy)]
pub enum MockAction<'a> {
    /// A step whose time has come. Nothing, when somebody was quicker.
    Step(&'a DueStep),
    /// A step along the flow of an object: the usual one, or that to a state.
    Move {
        /// The object's id.
        object: &'a str,
        /// The state.
        to: Option<&'a str>,
    },
    /// The step of a person's button.
    Decide {
        /// The object's kind.
        kind: &'a str,
        /// Its id.
        id: &'a str,
        /// The state.
        to: &'a str,
    },
    /// Something from outside.
    Trigger {
        /// Its event.
        event: &'a str,
        /// The object that it is about.
        object: Option<&'a str>,
        /// What is said of it.
        data: &'a Value,
    },
}

/// What a run of an action came to.
#[derive(Debug)]
pub enum ActionOutcome {
    /// These have to be read first.
    Need(Vec<Want>),
    /// It happened.
    Done(Box<ActionDone>),
    /// It cannot happen.
    Refused(ActionRefusal),
}

/// What happened.
#[derive(Debug)]
pub struct ActionDone {
    /// The object as it is now; none where nothing was to be done.
    pub object: Option<StoredObject>,
    /// What is written; all of it or nothing.
    pub writes: Vec<Write>,
    /// How many requests are sent to the app.
    pub sent: usize,
    /// Whether there is a row `~out`, with what is sent and the steps that follow.
    pub goes_on: bool,
}

/// Why an action cannot happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionRefusal {
    /// There is no such object.
    NoObject,
    /// The object does not go to that state; these are the ones that it goes to.
    State(Vec<&'static str>),
    /// The provider has no such event from outside; these are those that it has.
    Event(Vec<&'static str>),
    /// A field of the data is missing or wrong.
    Data {
        /// Which one; empty for the data itself.
        field: String,
        /// What is wrong.
        message: String,
    },
}

enum Stopped {
    Halt(Halt),
    Refused(ActionRefusal),
}

impl From<Halt> for Stopped {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

/// Does an action as far as what was read allows.
#[must_use]
pub fn act(
    mock: &CalledMock<'_>,
    action: MockAction<'_>,
    loaded: &Loaded,
    chance: &Chance,
) -> ActionOutcome {
    let call = MockCall::default();
    let mut context = CallContext::new(mock, &call, loaded, chance);
    let object = match done(&mut context, action) {
        Ok(object) => object,
        Err(Stopped::Halt(Halt::Load)) => return ActionOutcome::Need(context.wants()),
        Err(Stopped::Halt(Halt::Failed(failure))) => return refused(&failure),
        Err(Stopped::Refused(refusal)) => return ActionOutcome::Refused(refusal),
    };
    let outgoing = match engine::outgoing(&mut context) {
        Ok(outgoing) => outgoing,
        Err(Halt::Load) => return ActionOutcome::Need(context.wants()),
        Err(Halt::Failed(failure)) => return refused(&failure),
    };
    let sent = outgoing.events.len();
    let Some((writes, goes_on)) = engine::written(&mut context, &outgoing) else {
        return refused(&CallFailure::TooLarge);
    };
    ActionOutcome::Done(Box::new(ActionDone { object, writes, sent, goes_on }))
}

fn refused(failure: &CallFailure) -> ActionOutcome {
    ActionOutcome::Refused(match failure {
        CallFailure::NotFound { .. } => ActionRefusal::NoObject,
        CallFailure::Invalid { field, message, .. } => {
            ActionRefusal::Data { field: field.clone(), message: message.clone() }
        }
        other => ActionRefusal::Data {
            field: String::new(),
            message: format!("the provider refuses it: {other:?}"),
        },
    })
}

fn done(
    context: &mut CallContext<'_>,
    action: MockAction<'_>,
) -> Result<Option<StoredObject>, Stopped> {
    match action {
        MockAction::Step(step) => by_time(context, step),
        MockAction::Move { object, to } => {
            let object = found(context, object)?;
            moved(context, object, to, |_| true).map(Some)
        }
        MockAction::Decide { kind, id, to } => {
            let object =
                context.find(kind, id)?.ok_or(Stopped::Refused(ActionRefusal::NoObject))?;
            let by_person = |step: &FlowStep| matches!(step.by, StepActor::Person(_));
            moved(context, object, Some(to), by_person).map(Some)
        }
        MockAction::Trigger { event, object, data } => {
            let triggers = simulation(context.provider).map_or(&[][..], |it| it.triggers);
            let known = || triggers.iter().map(|trigger| trigger.event).collect();
            let trigger = triggers.iter().find(|trigger| trigger.event == event);
            let trigger = trigger.ok_or_else(|| Stopped::Refused(ActionRefusal::Event(known())))?;
            let object = object.map(|object| found(context, object)).transpose()?;
            context.body = flow::data(data);
            Ok(Some((trigger.run)(context, object)?))
        }
    }
}

fn by_time(context: &mut CallContext<'_>, due: &DueStep) -> Result<Option<StoredObject>, Stopped> {
    let Some(flow) = flow::flow_of(context.provider, &due.kind) else { return Ok(None) };
    let Some(object) = context.find(&due.kind, &due.id)? else { return Ok(None) };
    if object.state.as_deref() != Some(due.from.as_str()) {
        return Ok(None);
    }
    let Some(step) = flow.steps_from(&due.from).next() else { return Ok(None) };
    Ok(Some(flow::taken(context, flow, object, step.to)?))
}

/// The object with an id, of whichever kind.
fn found(context: &mut CallContext<'_>, id: &str) -> Result<StoredObject, Stopped> {
    let kinds = context.provider.kinds.iter().filter(|kind| id.starts_with(kind.prefix));
    let (mut found, mut halted) = (None, None);
    for kind in kinds {
        match context.find(kind.name, id) {
            Ok(object) => found = found.or(object),
            // All kinds are asked for in one round.
            Err(halt) => halted = Some(halt),
        }
    }
    match (found, halted) {
        (Some(object), _) => Ok(object),
        (None, Some(halt)) => Err(halt.into()),
        (None, None) => Err(Stopped::Refused(ActionRefusal::NoObject)),
    }
}

fn moved(
    context: &mut CallContext<'_>,
    object: StoredObject,
    to: Option<&str>,
    may: impl Fn(&FlowStep) -> bool,
) -> Result<StoredObject, Stopped> {
    let flow: Option<&'static Flow> = flow::flow_of(context.provider, &object.kind);
    let state = object.state.clone().unwrap_or_default();
    let steps = flow.into_iter().flat_map(|flow| flow.steps_from(&state));
    let steps: Vec<_> = steps.filter(|step| may(step)).collect();
    let step = steps.iter().find(|step| to.is_none_or(|to| to == step.to));
    let (Some(flow), Some(step)) = (flow, step) else {
        let known = steps.iter().map(|step| step.to).collect();
        return Err(Stopped::Refused(ActionRefusal::State(known)));
    };
    Ok(flow::taken(context, flow, object, step.to)?)
}
