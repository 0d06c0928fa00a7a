//! Invitations to teams.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{InvitationId, PersonId, Role, TeamId, Time};

use super::{of_team, team_scan, uuid};
use crate::{Key, Record, RowOwner, Scan, Table, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[INVITATION];

const INVITATION: &Table = &Table {
    name: "invitation",
    partition: &[uuid("team_id")],
    sort: &[uuid("invitation_id")],
    writes: Writes::Guarded,
    owner: RowOwner::Team,
    about: "Who is invited to a team, and which link says so.",
    ..Table::PLAIN
};

/// An invitation, of which an address has one in a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Its id, which the team and the address make.
    pub id: InvitationId,
    /// The team.
    pub team: TeamId,
    /// Who is invited: the address as it is compared.
    pub email: String,
    /// What they will be to the team.
    pub role: Role,
    /// Who invites.
    pub invited_by: PersonId,
    /// The SHA-256 in hex of the last link's token, which alone still works.
    pub link: String,
    /// Whether that link was sent to the address, so that whoever has it reads that mail.
    pub is_mailed: bool,
    /// When it was made, or made anew.
    pub created_at: Time,
    /// From when on it is over.
    pub expires_at: Time,
}

impl Invitation {
    /// How long an invitation holds.
    pub const VALID: Duration = Duration::from_hours(7 * 24);

    /// The row of an invitation.
    #[must_use]
    pub fn row(team: TeamId, id: InvitationId) -> Key {
        of_team(INVITATION, team, id.0)
    }

    /// The team's invitations, at most `limit`.
    #[must_use]
    pub fn of_team(team: TeamId, limit: usize) -> Scan {
        team_scan(INVITATION, team, limit)
    }
}

impl Record for Invitation {
    const TABLE: &'static Table = INVITATION;
    fn key(&self) -> Key {
        Self::row(self.team, self.id)
    }
}
