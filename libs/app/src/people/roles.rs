//! The roles of people in teams, and what these permit.

use futures_util::future::try_join_all;
use trapline_model::{Me, OwnTeam, PersonId, Role, SignInOptions, TeamId};
use trapline_store::{
    load, load_all,
    records::{FirstOwner, Membership, Team, TeamOfPerson},
};

use super::{People, SignedIn, rows::present};
use crate::{Error, Result};

/// Teams of one person that are read.
const MAX_TEAMS: usize = 200;

/// The permissions that each role adds, the least role first; a greater role has those of lesser ones too.
const PERMISSIONS: [(Role, &[&str]); 3] = [
    (
        Role::Member,
        &[
            "inboxes.manage",
            "webhooks.manage",
            "forwarding.manage",
            "idps.manage",
            "mocks.manage",
            "usage.read",
        ],
    ),
    (Role::Admin, &["people.manage", "keys.manage", "team.manage", "audit.read"]),
    (Role::Owner, &["owners.manage", "sso.manage", "team.delete"]),
];

impl People {
    /// The person's role in the team, as it was at most 5 s ago; `None` also in a team that was deleted.
    pub(super) async fn role(&self, team: TeamId, person: PersonId) -> Result<Option<Role>> {
        if !self.plans.is_there(team).await? {
            return Ok(None);
        }
        if let Some(role) = self.known.role(team, person) {
            return Ok(Some(role));
        }
        let found = load::<Membership>(&*self.store, &Membership::row(team, person)).await?;
        let role = found.map(|(membership, _)| membership.role);
        if let Some(role) = role {
            self.known.keep_role(team, person, role);
        }
        Ok(role)
    }

    /// Forgets a person's role in a team: it is read anew at once in this process, and within 5 s in every
    /// other.
    pub(crate) fn forget_role(&self, team: TeamId, person: PersonId) {
        self.known.forget_role(team, person);
    }

    /// The person's memberships of teams that nobody deleted, the oldest team first.
    pub(super) async fn memberships(&self, person: PersonId) -> Result<Vec<Membership>> {
        let scan = TeamOfPerson::of_person(person, MAX_TEAMS);
        let listed = load_all::<TeamOfPerson>(&*self.store, scan).await?;
        let reads = listed.iter().map(|listed| async {
            if !self.plans.is_there(listed.team).await? {
                return Ok::<_, Error>(None);
            }
            let row = Membership::row(listed.team, person);
            Ok(load::<Membership>(&*self.store, &row).await?)
        });
        let found = try_join_all(reads).await?;
        Ok(found.into_iter().flatten().map(|(membership, _)| membership).collect())
    }

    /// The person who is signed in, their teams, and what the current one permits them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person is no longer there, and when the store does not answer.
    pub async fn me(&self, who: &SignedIn) -> Result<Me> {
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        let memberships = self.usable(who.sso(), person.id).await?.memberships;
        let reads = memberships.iter().map(|membership| async {
            let team = load::<Team>(&*self.store, &Team::row(membership.team)).await?;
            let name = team.map(|(team, _)| team.name).unwrap_or_default();
            Ok::<_, Error>(OwnTeam { id: membership.team, name, role: membership.role })
        });
        let teams = try_join_all(reads).await?;
        let current = who.principal().map(|by| by.team);
        let team = teams.iter().find(|team| Some(team.id) == current).cloned();
        let features = match &team {
            Some(team) => self.plans.of(team.id).await?.feature_names(),
            None => Vec::new(),
        };
        Ok(Me {
            person: present(&person),
            can: team.as_ref().map(|team| permissions(team.role)).unwrap_or_default(),
            team,
            teams,
            features: features.into_iter().map(str::to_owned).collect(),
            outbound_enabled: self.mail.is_enabled(),
            build: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// The ways to sign in that this installation has.
    #[must_use]
    pub fn options(&self) -> SignInOptions {
        SignInOptions {
            sign_in: self.wants_sign_in(),
            password: self.wants_sign_in(),
            sign_up: self.settings.sign_up,
            sso: self.wants_sign_in(),
            outbound_enabled: self.mail.is_enabled(),
        }
    }

    /// The person who became the first team's owner by a link, if somebody did.
    pub(super) async fn first_owner(&self, team: TeamId) -> Result<Option<PersonId>> {
        let claim = load::<FirstOwner>(&*self.store, &FirstOwner::row()).await?;
        let Some((FirstOwner { person, .. }, _)) = claim else { return Ok(None) };
        // The claim is written first: a process may have ended before the membership was.
        let known = load::<Membership>(&*self.store, &Membership::row(team, person)).await?;
        Ok(known.map(|_| person))
    }
}

/// The names of what a role permits, as the API has them.
fn permissions(role: Role) -> Vec<String> {
    let allowed = PERMISSIONS.iter().filter(|(least, _)| *least <= role);
    allowed.flat_map(|(_, words)| *words).map(|word| (*word).to_owned()).collect()
}
