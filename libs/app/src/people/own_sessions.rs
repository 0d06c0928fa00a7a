//! A person's own sessions: lists and ends them, and switches teams.

use futures_util::future::try_join_all;
use trapline_model::{OwnSession, TeamId};
use trapline_store::{
    load,
    records::{Session, SessionOfPerson},
};

use super::{EDIT_TRIES, People, SignedIn};
use crate::{Error, Forbidden, Result, secrets::sha256_hex};

/// Characters of a session's id, the first of its hash: enough to tell sessions apart.
const ID_LENGTH: usize = 32;

impl People {
    /// The person's sessions, newest first; `token` is that of the session which asks.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn sessions(&self, who: &SignedIn, token: &str) -> Result<Vec<OwnSession>> {
        let listed = self.listed_sessions(who.person()).await?;
        let reads = listed.iter().map(|listed| async {
            load::<Session>(&*self.store, &Session::row(&listed.sha256)).await
        });
        let (current, now) = (sha256_hex(token), self.clock.now());
        let found = try_join_all(reads).await?.into_iter().flatten().map(|(session, _)| session);
        let mut sessions: Vec<_> = found
            .filter(|session| session.ends_at() > now)
            .map(|session| OwnSession {
                id: id_of(&session.sha256).to_owned(),
                is_current: session.sha256 == current,
                created_at: session.created_at,
                last_seen_at: session.last_seen_at,
                address: session.address.map(|address| address.to_string()),
                user_agent: session.user_agent,
            })
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.created_at));
        Ok(sessions)
    }

    /// Ends one of the person's sessions.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person has no such session.
    pub async fn end_session(&self, who: &SignedIn, id: &str) -> Result<()> {
        let listed = self.listed_sessions(who.person()).await?;
        let named = listed.iter().find(|session| id_of(&session.sha256) == id);
        self.end(named.ok_or(Error::NotFound)?).await
    }

    /// Ends the person's sessions but for that of the token.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn end_other_sessions(&self, who: &SignedIn, token: &str) -> Result<()> {
        let current = sha256_hex(token);
        let is_other = |session: &&SessionOfPerson| session.sha256 != current;
        for session in self.listed_sessions(who.person()).await?.iter().filter(is_other) {
            self.end(session).await?;
        }
        Ok(())
    }

    /// Has the session of a token act for another of the person's teams.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the person is not in that team, [`Error::Forbidden`] when it wants its
    /// single sign-on, and [`Error::Conflict`] when the session changes all the time.
    pub async fn switch_team(&self, who: &SignedIn, token: &str, team: TeamId) -> Result<SignedIn> {
        let role = self.role(team, who.person()).await?.ok_or(Error::NotFound)?;
        if !self.may_act(who.sso(), team, role).await? {
            // For a session of one team's provider there is no other team.
            let refused = Error::Forbidden(Forbidden::SsoRequired);
            return Err(if who.sso().is_some() { Error::NotFound } else { refused });
        }
        let row = Session::row(&sha256_hex(token));
        for _ in 0..EDIT_TRIES {
            let found = load::<Session>(&*self.store, &row).await?;
            let (session, version) = found.ok_or(Error::NotFound)?;
            match self.set_team(&session, version, team).await {
                // Another request recorded a use.
                Err(Error::Conflict) => {}
                set => return set.map(|()| who.acting_for(team, role)),
            }
        }
        Err(Error::Conflict)
    }
}

fn id_of(sha256: &str) -> &str {
    sha256.get(..ID_LENGTH).unwrap_or(sha256)
}
