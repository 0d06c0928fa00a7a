//! Sessions: begun by a sign-in, recognised by a token in a cookie, and ended.

use std::{net::IpAddr, sync::Arc, time::Duration};

use moka::sync::Cache;
use trapline_model::{PersonId, Principal, Role, TeamId};
use trapline_store::{
    Op, PortError, Record as _, When, load, load_all,
    records::{Membership, Session, SessionOfPerson},
};

use super::{EDIT_TRIES, People, Visitor, sso::Usable};
use crate::{
    Error, Result, Unauthenticated,
    access::CACHE_TTL,
    secrets::{TOKEN_LENGTH, new_token, sha256_hex},
};

/// Entries of each cache.
const CACHE_CAPACITY: u64 = 10_000;
/// Shortest time between two writes of a session's last use.
const USE_INTERVAL: Duration = Duration::from_mins(1);
/// Sessions of one person; a sign-in beyond them ends the oldest.
const MAX_SESSIONS: usize = 100;
/// Characters that are stored of a `User-Agent`.
const USER_AGENT_CHARS: usize = 256;

/// Caches of sessions, roles and enforced single sign-ons, for [`CACHE_TTL`]: another process may change
/// them.
pub(super) struct KnownSessions {
    sessions: Cache<String, Arc<KnownSession>>,
    roles: Cache<(TeamId, PersonId), Role>,
    /// Whether a team enforces its single sign-on.
    enforces_sso: Cache<TeamId, bool>,
}

/// A session as read.
struct KnownSession {
    session: Session,
    version: i64,
}

impl Default for KnownSessions {
    fn default() -> Self {
        let roles = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL);
        let sessions = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL);
        let teams = Cache::builder().max_capacity(CACHE_CAPACITY).time_to_live(CACHE_TTL);
        Self { sessions: sessions.build(), roles: roles.build(), enforces_sso: teams.build() }
    }
}

impl KnownSessions {
    pub(super) fn role(&self, team: TeamId, person: PersonId) -> Option<Role> {
        self.roles.get(&(team, person))
    }

    pub(super) fn keep_role(&self, team: TeamId, person: PersonId, role: Role) {
        self.roles.insert((team, person), role);
    }

    pub(super) fn forget_role(&self, team: TeamId, person: PersonId) {
        self.roles.invalidate(&(team, person));
    }

    pub(super) fn enforces_sso(&self, team: TeamId) -> Option<bool> {
        self.enforces_sso.get(&team)
    }

    pub(super) fn keep_enforces_sso(&self, team: TeamId, enforced: bool) {
        self.enforces_sso.insert(team, enforced);
    }

    pub(super) fn forget_enforces_sso(&self, team: TeamId) {
        self.enforces_sso.invalidate(&team);
    }

    fn keep(&self, session: Session, version: i64) -> Arc<KnownSession> {
        let known = Arc::new(KnownSession { session, version });
        self.sessions.insert(known.session.sha256.clone(), known.clone());
        known
    }
}

/// Somebody who is signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedIn {
    person: PersonId,
    /// The team that requests act for, and the role in it.
    member: Option<(TeamId, Role)>,
    /// The address of the client.
    address: Option<IpAddr>,
    /// The team whose identity provider sent the person.
    sso: Option<TeamId>,
    /// Whether the person is in a team that enforces its single sign-on, and this session is not of it.
    needs_sso: bool,
}

impl SignedIn {
    /// Somebody of whom no session is needed, in no team yet.
    pub(super) fn without_session(person: PersonId, address: Option<IpAddr>) -> Self {
        Self { person, member: None, address, sso: None, needs_sso: false }
    }

    /// The same person, acting for this team.
    pub(super) fn acting_for(self, team: TeamId, role: Role) -> Self {
        Self { member: Some((team, role)), ..self }
    }

    /// The person.
    #[must_use]
    pub fn person(&self) -> PersonId {
        self.person
    }

    /// The address of the client.
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The team whose identity provider sent the person.
    pub(super) fn sso(&self) -> Option<TeamId> {
        self.sso
    }

    /// Whether a team's identity provider sent the person, which vouches for them to that team only.
    #[must_use]
    pub fn is_by_sso(&self) -> bool {
        self.sso.is_some()
    }

    /// Whether the person is in teams, all of which enforce their single sign-on.
    #[must_use]
    pub fn needs_sso(&self) -> bool {
        self.needs_sso && self.member.is_none()
    }

    /// The person, acting for the session's team; `None` while they are in no team.
    #[must_use]
    pub fn principal(&self) -> Option<Principal> {
        let by = |(team, role)| Principal::of_person(team, self.person, role).at(self.address);
        self.member.map(by)
    }
}

/// A session that has just begun.
#[derive(Debug)]
pub struct NewSession {
    /// The value of the session's cookie, which is stored nowhere.
    pub token: String,
    /// Who is signed in.
    pub signed_in: SignedIn,
}

impl People {
    /// Finds out who sends this token.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`] when the session is over or never was, and [`Error::TooMany`] for an
    /// address from which many tokens and keys came that are none.
    pub async fn authenticate(&self, token: &str, visitor: &Visitor) -> Result<SignedIn> {
        let known = self.session_of(token, visitor).await?;
        let known = self.record_use(known).await;
        let Session { person, team, sso, .. } = known.session;
        let role = match team {
            Some(team) => self.role(team, person).await?.map(|role| (team, role)),
            None => None,
        };
        let (member, needs_sso) = match role {
            Some((team, role)) if self.may_act(sso, team, role).await? => {
                (Some((team, role)), false)
            }
            _ => self.leave_team(&known).await?,
        };
        Ok(SignedIn { person, member, address: visitor.address, sso, needs_sso })
    }

    async fn session_of(&self, token: &str, visitor: &Visitor) -> Result<Arc<KnownSession>> {
        let over = || Error::Unauthenticated(Unauthenticated::SessionOver);
        if token.len() != TOKEN_LENGTH {
            return Err(over());
        }
        let sha256 = sha256_hex(token);
        let known = match self.known.sessions.get(&sha256) {
            Some(known) => known,
            None => self.look_up(&sha256, visitor).await?.ok_or_else(over)?,
        };
        if known.session.ends_at() <= self.clock.now() { Err(over()) } else { Ok(known) }
    }

    async fn look_up(&self, sha256: &str, visitor: &Visitor) -> Result<Option<Arc<KnownSession>>> {
        let row = Session::row(sha256);
        let found = self.access.look_up_credential(sha256, &row, visitor.address).await?;
        if found.is_none() {
            self.access.record_auth_failure(visitor.address, "session");
        }
        Ok(found.map(|(session, version)| self.known.keep(session, version)))
    }

    /// Writes when the session was last used. Without it, because another process was faster or the store
    /// does not answer, the session goes on.
    async fn record_use(&self, known: Arc<KnownSession>) -> Arc<KnownSession> {
        let now = self.clock.now();
        if now.since(known.session.last_seen_at) < USE_INTERVAL {
            return known;
        }
        let session = Session { last_seen_at: now, ..known.session.clone() };
        // In the cache first, so that requests that come meanwhile do not write too.
        let seen = self.known.keep(session, known.version + 1);
        match self.replace(&seen.session, known.version).await {
            Ok(()) => seen,
            Err(error) => {
                self.known.sessions.invalidate(&known.session.sha256);
                if !matches!(error, Error::Conflict) {
                    tracing::warn!(%error, "the last use of a session was not noted");
                }
                known
            }
        }
    }

    async fn replace(&self, session: &Session, version: i64) -> Result<()> {
        let remaining = session.ends_at().since(self.clock.now());
        let put = Op::put(session, Some(remaining), When::Version(version))?;
        Ok(self.store.write(vec![put]).await?)
    }

    /// Has a session act for another team.
    pub(super) async fn set_team(
        &self,
        session: &Session,
        version: i64,
        team: TeamId,
    ) -> Result<()> {
        let session = Session { team: Some(team), ..session.clone() };
        match self.replace(&session, version).await {
            Ok(()) => {
                self.known.keep(session, version + 1);
                Ok(())
            }
            Err(error) => {
                self.known.sessions.invalidate(&session.sha256);
                Err(error)
            }
        }
    }

    /// Has a session that may not act for its team any more act for another one. Returns that team with the
    /// role, `None` when there is none, and whether a team enforces its single sign-on.
    async fn leave_team(&self, known: &KnownSession) -> Result<(Option<(TeamId, Role)>, bool)> {
        let Usable { memberships, needs_sso } =
            self.usable(known.session.sso, known.session.person).await?;
        let Some(Membership { team, role, .. }) = memberships.first().cloned() else {
            return Ok((None, needs_sso));
        };
        match self.set_team(&known.session, known.version, team).await {
            // On a conflict another request did the same.
            Ok(()) | Err(Error::Conflict) => Ok((Some((team, role)), needs_sso)),
            Err(error) => Err(error),
        }
    }

    /// Begins a session that acts for the first team that the person may act for.
    pub(super) async fn begin(&self, person: PersonId, visitor: &Visitor) -> Result<NewSession> {
        self.begin_via(None, None, person, visitor).await
    }

    /// Begins a session that acts for this team, if the person is in it.
    pub(super) async fn begin_in(
        &self,
        team: TeamId,
        person: PersonId,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        self.begin_via(None, Some(team), person, visitor).await
    }

    /// Begins a session that acts for `team`, if the person may act for it, else for the first team that
    /// they may act for. `sso` is the team whose provider sent the person.
    pub(super) async fn begin_via(
        &self,
        sso: Option<TeamId>,
        team: Option<TeamId>,
        person: PersonId,
        visitor: &Visitor,
    ) -> Result<NewSession> {
        let token = new_token();
        let (now, sha256) = (self.clock.now(), sha256_hex(&token));
        let Usable { memberships, needs_sso } = self.usable(sso, person).await?;
        let wanted = memberships.iter().find(|membership| Some(membership.team) == team);
        let member = wanted.or(memberships.first()).map(|found| (found.team, found.role));
        let listed = SessionOfPerson { person, sha256: sha256.clone(), created_at: now };
        let session = Session {
            sha256,
            person,
            team: member.map(|(team, _)| team),
            created_at: now,
            last_seen_at: now,
            address: visitor.address,
            user_agent: visitor.user_agent.chars().take(USER_AGENT_CHARS).collect(),
            sso,
        };
        self.end_oldest(person).await?;
        // The list comes first: a session that no list names could not be ended.
        let list = Op::put(&listed, Some(Session::MAX_AGE), When::Always)?;
        let put = Op::put(&session, Some(Session::IDLE_TIMEOUT), When::Absent)?;
        self.store.write(vec![list, put]).await?;
        self.note_origin(person, visitor).await;
        let address = visitor.address;
        let signed_in = SignedIn { person, member, address, sso, needs_sso };
        Ok(NewSession { token, signed_in })
    }

    /// Ends the oldest sessions of a person beyond [`MAX_SESSIONS`], counting one more.
    async fn end_oldest(&self, person: PersonId) -> Result<()> {
        let mut listed = self.listed_sessions(person).await?;
        listed.sort_by_key(|session| session.created_at);
        let over = (listed.len() + 1).saturating_sub(MAX_SESSIONS);
        for session in listed.iter().take(over) {
            self.end(session).await?;
        }
        Ok(())
    }

    pub(super) async fn listed_sessions(&self, person: PersonId) -> Result<Vec<SessionOfPerson>> {
        let scan = SessionOfPerson::of_person(person, 2 * MAX_SESSIONS);
        Ok(load_all(&*self.store, scan).await?)
    }

    /// Ends the session of a token, if there is one: at once in this process, and within 5 seconds in
    /// every other.
    ///
    /// # Errors
    ///
    /// When the store does not answer, and [`Error::Conflict`] when the session changes all the time.
    pub async fn sign_out(&self, token: &str) -> Result<()> {
        let sha256 = sha256_hex(token);
        match load::<Session>(&*self.store, &Session::row(&sha256)).await? {
            Some((Session { person, created_at, .. }, _)) => {
                self.end(&SessionOfPerson { person, sha256, created_at }).await
            }
            None => Ok(()),
        }
    }

    /// Ends every session of a person.
    pub(super) async fn end_all(&self, person: PersonId) -> Result<()> {
        for session in self.listed_sessions(person).await? {
            self.end(&session).await?;
        }
        Ok(())
    }

    pub(super) async fn end(&self, listed: &SessionOfPerson) -> Result<()> {
        let removed = self.remove_row(&listed.sha256).await;
        self.known.sessions.invalidate(&listed.sha256);
        removed?;
        let delete = Op::Delete { key: listed.key(), when: When::Always };
        Ok(self.store.write(vec![delete]).await?)
    }

    /// Removes the row of a session, if it is there.
    async fn remove_row(&self, sha256: &str) -> Result<()> {
        let key = Session::row(sha256);
        for _ in 0..EDIT_TRIES {
            let Some((_, version)) = load::<Session>(&*self.store, &key).await? else {
                return Ok(());
            };
            let delete = Op::Delete { key: key.clone(), when: When::Version(version) };
            match self.store.write(vec![delete]).await {
                // It was used at the same moment.
                Err(PortError::Conflict) => {}
                outcome => return Ok(outcome?),
            }
        }
        Err(Error::Conflict)
    }
}
