//! Teams: their members, invitations and end. It uses access, mail and people.

mod delete;
mod invitations;
mod members;
mod notifications;

use std::sync::Arc;

use trapline_model::{self as model, Actor, PersonId, Principal, Role};
use trapline_store::{
    Clock, PortError, Store, When, load,
    records::{Person, Team},
};

use crate::{
    AccessControl, AuditAction, AuditLog, Error, FirstSteps, Forbidden, Jobs, OutboundMail, People,
    Result, audit::Target, limits::Limits, parts::Parts, plans::Plans,
};

/// How often a change is tried that loses to another one of the same row.
const EDIT_TRIES: usize = 5;

/// Teams, as their members manage them.
pub struct Teams {
    store: Arc<dyn Store>,
    clock: Clock,
    audit: Arc<AuditLog>,
    first_steps: Arc<FirstSteps>,
    limits: Limits,
    plans: Arc<Plans>,
    jobs: Jobs,
    access: Arc<AccessControl>,
    mail: Arc<OutboundMail>,
    people: Arc<People>,
}

/// The services that teams use.
pub(crate) struct TeamServices {
    pub(crate) access: Arc<AccessControl>,
    pub(crate) mail: Arc<OutboundMail>,
    pub(crate) people: Arc<People>,
}

impl Teams {
    pub(crate) fn new(parts: &Parts, services: TeamServices) -> Self {
        let TeamServices { access, mail, people } = services;
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            audit: parts.audit.clone(),
            first_steps: parts.first_steps.clone(),
            limits: parts.limits.clone(),
            plans: parts.plans.clone(),
            jobs: parts.jobs.clone(),
            access,
            mail,
            people,
        }
    }

    /// The team.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it is gone, and when the store does not answer.
    pub async fn get(&self, by: &Principal) -> Result<model::TeamProfile> {
        let (team, _) = self.team(by).await?;
        Ok(present(team, by.role))
    }

    /// Gives the team another name.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below an admin, [`Error::NotFound`] when the team is gone, and
    /// [`Error::Conflict`] when somebody else changed it at the same moment.
    pub async fn rename(&self, by: &Principal, name: String) -> Result<model::TeamProfile> {
        require_role(by, Role::Admin)?;
        let (mut team, version) = self.team(by).await?;
        team.name = name;
        let (action, when) = (AuditAction::TeamRenamed, When::Version(version));
        self.audit.put(by, action, target_of(&team), &team, when).await?;
        Ok(present(team, by.role))
    }

    /// The row of the team, unless it was deleted, and its version.
    async fn team(&self, by: &Principal) -> Result<(Team, i64)> {
        let found = load::<Team>(&*self.store, &Team::row(by.team)).await?;
        found.filter(|(team, _)| team.deleted_at.is_none()).ok_or(Error::NotFound)
    }

    /// The person with this id.
    async fn person(&self, id: PersonId) -> Result<Option<Person>> {
        Ok(load::<Person>(&*self.store, &Person::row(id)).await?.map(|(person, _)| person))
    }
}

/// Checks that a person asks whose role is at least this.
///
/// # Errors
///
/// [`Error::Forbidden`] for a lesser role, and for every key.
fn require_role(by: &Principal, least: Role) -> Result<()> {
    person_of(by)?;
    match least {
        role if by.role >= role => Ok(()),
        Role::Owner => Err(Error::Forbidden(Forbidden::OwnerRequired)),
        Role::Admin | Role::Member => Err(Error::Forbidden(Forbidden::AdminRequired)),
    }
}

/// The person who asks.
fn person_of(by: &Principal) -> Result<PersonId> {
    match by.actor {
        Actor::Person(person) => Ok(person),
        Actor::Key(_) | Actor::System => Err(Error::Forbidden(Forbidden::PersonRequired)),
    }
}

fn present(team: Team, role: Role) -> model::TeamProfile {
    model::TeamProfile { id: team.id, name: team.name, role, created_at: team.created_at }
}

fn target_of(team: &Team) -> Target {
    Target { name: team.name.clone(), ..Target::team(team.id) }
}

/// Whether a write may be tried again.
fn is_conflict(outcome: &Result<(), PortError>) -> bool {
    matches!(outcome, Err(PortError::Conflict))
}
