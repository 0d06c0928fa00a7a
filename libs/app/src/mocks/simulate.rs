//! What happens to a mock without a call: a step whose time has come, a step that a test asks for, and what comes from
//! outside.

use serde_json::Value;
use trapline_mocks::{
    ActionDone, ActionOutcome, ActionRefusal, DueStep, MockAction, StoredObject, act,
};
use trapline_model::{MockCallId, MockHappened, MockId, Principal, TeamId};
use trapline_store::records::MockEpoch;

use super::{Mocks, engine_run::EngineRun, log::object, opened::OpenedMock, send::id_of};
use crate::{Error, Result};

/// What came of an action.
pub(super) type Acted = std::result::Result<ActionDone, ActionRefusal>;

impl Mocks {
    /// Takes an object a step along its flow: the usual one, or that to a state.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock or this no such object, [`Error::Invalid`] for a state that
    /// the object does not go to, [`Error::Conflict`] when others change it again and again, and when the store does
    /// not answer.
    pub async fn move_object(
        &self,
        by: &Principal,
        id: MockId,
        object: &str,
        to: Option<&str>,
    ) -> Result<MockHappened> {
        let mock = self.opened_by(by, id).await?;
        let done = self.happen(&mock, MockAction::Move { object, to }).await?;
        let done = done.map_err(|refusal| refused(refusal, "to"))?;
        happened(&mock, done)
    }

    /// Lets something come from outside: a message, a dispute, a record that a person changed.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such mock, [`Error::Invalid`] for an event that does not come from
    /// outside, an object that is not there, or data that the event lacks; [`Error::Conflict`] when others change the
    /// same things again and again, and when the store does not answer.
    pub async fn trigger(
        &self,
        by: &Principal,
        id: MockId,
        event: &str,
        object: Option<&str>,
        data: &Value,
    ) -> Result<MockHappened> {
        let mock = self.opened_by(by, id).await?;
        let done = self.happen(&mock, MockAction::Trigger { event, object, data }).await?;
        let done = done.map_err(|refusal| match refused(refusal, "event") {
            Error::NotFound => Error::invalid("objectId", "unknown", "there is no such object"),
            error => error,
        });
        happened(&mock, done?)
    }

    /// Takes a step whose time has come, unless somebody was quicker, or the mock was cleared since.
    pub(super) async fn take_step(
        &self,
        team: TeamId,
        of: MockEpoch,
        step: &DueStep,
        call: MockCallId,
    ) -> Result<()> {
        let Some(mock) = self.mock_of(team, of).await? else { return Ok(()) };
        let address = self.own_address(&mock.0.slug);
        let mock = self.open_mock(mock, call, address)?;
        if let Err(refusal) = self.happen(&mock, MockAction::Step(step)).await? {
            tracing::warn!(?refusal, "a step of a mock was not taken");
        }
        Ok(())
    }

    /// Does an action, and writes what it changes.
    pub(super) async fn happen(&self, mock: &OpenedMock, action: MockAction<'_>) -> Result<Acted> {
        let called = mock.called();
        let run = |loaded: &_, chance: &_| match act(&called, action, loaded, chance) {
            ActionOutcome::Need(wants) => Err(wants),
            ActionOutcome::Refused(refusal) => {
                Ok(EngineRun { done: Err(refusal), writes: Vec::new(), goes_on: false })
            }
            ActionOutcome::Done(mut done) => {
                let writes = std::mem::take(&mut done.writes);
                Ok(EngineRun { goes_on: done.goes_on, writes, done: Ok(*done) })
            }
        };
        self.run_and_commit(mock, run).await
    }

    async fn opened_by(&self, by: &Principal, id: MockId) -> Result<OpenedMock> {
        let mock = self.mock(by.team, id).await?;
        let address = self.own_address(&mock.0.slug);
        self.open_mock(mock, MockCallId(self.ids.next()), address)
    }
}

fn happened(mock: &OpenedMock, done: ActionDone) -> Result<MockHappened> {
    let stored: StoredObject = done.object.ok_or(Error::NotFound)?;
    let delivery_ids = (0..done.sent).map(|place| id_of(mock.id, place)).collect();
    Ok(MockHappened { object: object(stored), delivery_ids })
}

fn refused(refusal: ActionRefusal, path: &str) -> Error {
    let listed = |list: Vec<&str>, none: &str, some: &str| match list.as_slice() {
        [] => none.to_owned(),
        list => format!("{some} {}", list.join(", ")),
    };
    match refusal {
        ActionRefusal::NoObject => Error::NotFound,
        ActionRefusal::State(list) => {
            let none = "the object is at the end of its flow, or has none";
            Error::invalid(path, "unknown", listed(list, none, "from here the object goes to"))
        }
        ActionRefusal::Event(list) => {
            let none = "nothing comes from outside at this provider";
            Error::invalid(path, "unknown", listed(list, none, "from outside come"))
        }
        ActionRefusal::Data { field, message } => {
            let path = match field.as_str() {
                "" | "objectId" => field.clone(),
                field => format!("data.{field}"),
            };
            Error::invalid(&path, "invalid", message)
        }
    }
}
