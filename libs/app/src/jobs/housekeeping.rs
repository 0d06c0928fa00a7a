//! The work of [`Lane::Housekeeping`]: what a request started and need not wait for.

use serde::{Deserialize, Serialize};
use trapline_model::{IdpId, InboxId, MockCallId, TeamId, Time};
use trapline_store::{Job, Lane, Result, records::MockEpoch};

use super::job;

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HousekeepingWork {
    /// Remove what an inbox held, once the inbox itself is gone.
    Purge {
        team: TeamId,
        inbox: InboxId,
        /// Its SMTP user name; jobs of older releases have none.
        #[serde(default)]
        username: Option<String>,
    },
    /// Remove what a mock identity provider had, once the provider itself is gone.
    RemoveIdp {
        team: TeamId,
        idp: IdpId,
        slug: String,
        /// The part of its log that counted.
        epoch: i64,
    },
    /// Remove some of what a team has that was deleted.
    RemoveTeam {
        team: TeamId,
        /// Whether it is the last walk over the team's rows, after which the team's own goes.
        is_last: bool,
    },
    /// Remove some of what a mock kept before it was cleared or deleted.
    RemoveMock { of: MockEpoch },
    /// Remove what a mock holds beyond what it keeps.
    TrimMock {
        of: MockEpoch,
        /// The provider's id.
        provider: String,
    },
    /// Show that jobs are done.
    Probe,
}

/// The job that does the next step of the removal of a team.
pub(crate) fn team_removal(team: TeamId, is_last: bool, due: Time) -> Result<Job> {
    let work = HousekeepingWork::RemoveTeam { team, is_last };
    job(Lane::Housekeeping, format!("remove-team:{team}"), 1, work, due)
}

/// The job that does the next step of the removal of what a mock kept.
pub(crate) fn mock_removal(of: MockEpoch, due: Time) -> Result<Job> {
    let (work, id) =
        (HousekeepingWork::RemoveMock { of }, format!("remove-mock:{}:{}", of.mock, of.epoch));
    job(Lane::Housekeeping, id, 1, work, due)
}

/// The job that removes what a mock of a provider holds beyond what it keeps, after a call.
pub(crate) fn mock_trim(of: MockEpoch, provider: &str, call: MockCallId, due: Time) -> Result<Job> {
    let work = HousekeepingWork::TrimMock { of, provider: provider.to_owned() };
    job(Lane::Housekeeping, format!("trim-mock:{call}"), 1, work, due)
}
