//! How objects go on after the call that made them: by time, by a person, or when a test says so.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Provider, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    providers::simulation,
    settings::FlowPace,
};

/// Steps that one call takes at once, at most.
const MAX_STEPS: usize = 16;

/// Who takes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepActor {
    /// Nobody: it happens after a while.
    Time,
    /// A person, by the button of this name.
    Person(&'static str),
    /// A test alone, as it is not the usual course of things.
    Test,
}

/// A way from one state to another. Of those from one state the first is the usual one.
pub(crate) struct FlowStep {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) by: StepActor,
}

/// How a kind of object goes on.
pub(crate) struct Flow {
    pub(crate) kind: &'static str,
    pub(crate) steps: &'static [FlowStep],
    /// Takes an object to the state of one of its steps, and tells of it.
    pub(crate) take: TakeStep,
    /// The page on which a person decides.
    pub(crate) page: Option<&'static FlowPage>,
}

type TakeStep = fn(&mut CallContext<'_>, StoredObject, &'static str) -> Result<StoredObject, Halt>;

/// A page of the provider's, for a person.
pub(crate) struct FlowPage {
    /// What it says.
    pub(crate) show: fn(&StoredObject) -> PageText,
    /// Where a person goes who has decided, or who does not.
    pub(crate) back: fn(&StoredObject, bool) -> Option<String>,
}

/// What a page says.
pub(crate) struct PageText {
    pub(crate) title: String,
    pub(crate) lines: Vec<(&'static str, String)>,
}

/// Something that comes from outside: a dispute, a message of somebody.
pub(crate) struct Trigger {
    /// Its event.
    pub(crate) event: &'static str,
    /// What it does, to an object that the test names; the body of the call has the test's data.
    pub(crate) run: fn(&mut CallContext<'_>, Option<StoredObject>) -> Result<StoredObject, Halt>,
}

/// What happens at a provider without a call.
pub(crate) struct Simulation {
    /// Its id.
    pub(crate) provider: &'static str,
    pub(crate) flows: &'static [Flow],
    pub(crate) triggers: &'static [Trigger],
}

/// A step that is to be taken after a while, if its object is still where it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DueStep {
    /// The object's kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The state that it is in.
    pub from: String,
    /// Milliseconds to wait.
    pub after_ms: u64,
}

impl Flow {
    /// The ways out of a state, the usual one first.
    pub(crate) fn steps_from(&self, state: &str) -> impl Iterator<Item = &'static FlowStep> {
        let steps: &'static [FlowStep] = self.steps;
        steps.iter().filter(move |step| step.from == state)
    }
}

/// The flow of a kind.
pub(crate) fn flow_of(provider: &Provider, kind: &str) -> Option<&'static Flow> {
    simulation(provider)?.flows.iter().find(|flow| flow.kind == kind)
}

/// Takes the steps that the pace has taken at once, and gives those that are due later.
pub(crate) fn go_on(context: &mut CallContext<'_>) -> Result<Vec<DueStep>, Halt> {
    let mut due = Vec::new();
    for _ in 0..MAX_STEPS {
        let moved = context.moved();
        if moved.is_empty() {
            break;
        }
        for (kind, id, state) in moved {
            let Some(flow) = flow_of(context.provider, &kind) else { continue };
            let Some(step) = flow.steps_from(&state).next() else { continue };
            let pace = match step.by {
                StepActor::Time => context.mock.settings.pace.unwrap_or(FlowPace::Timed),
                StepActor::Person(_) => context.mock.settings.pace.unwrap_or(FlowPace::Manual),
                StepActor::Test => FlowPace::Manual,
            };
            match pace {
                FlowPace::Manual => {}
                FlowPace::Timed => {
                    let after_ms = context.mock.settings.pace_ms;
                    due.push(DueStep { kind, id, from: state, after_ms });
                }
                FlowPace::Instant => {
                    if let Some(object) = context.find(&kind, &id)? {
                        taken(context, flow, object, step.to)?;
                    }
                }
            }
        }
    }
    Ok(due)
}

/// Takes a step. A decline on the way is an outcome too: the object as it is then.
pub(crate) fn taken(
    context: &mut CallContext<'_>,
    flow: &Flow,
    object: StoredObject,
    to: &'static str,
) -> Result<StoredObject, Halt> {
    let before = object.clone();
    match (flow.take)(context, object, to) {
        Err(Halt::Failed(CallFailure::Declined(..))) => {
            let found = context.find(&before.kind, &before.id)?;
            Ok(found.unwrap_or(before))
        }
        outcome => outcome,
    }
}

/// The data of a trigger or a decision, as a field of the body.
pub(crate) fn data(value: &Value) -> Value {
    if value.is_object() { value.clone() } else { Value::Object(serde_json::Map::new()) }
}
