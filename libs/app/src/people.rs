//! People: who they are, their sessions, and the links that let them in. It uses access and mail.

mod account;
mod addresses;
mod first_owner;
mod invitations;
mod links;
mod notifications;
mod open;
mod origin;
mod own_sessions;
mod passwords;
mod profile;
mod roles;
mod rows;
mod sessions;
mod sign_in;
mod sso;

use std::{net::IpAddr, sync::Arc, time::Duration};

use tokio::sync::OnceCell;
use trapline_model::{PersonId, TeamId};
use trapline_store::{Clock, Rate, RateDecision, Store};

use crate::{
    AccessControl, AuditLog, Error, OutboundMail, Result, Settings, ids::Ids, limits::Limits,
    parts::Parts, plans::Plans, secrets::sha256_hex,
};
pub use account::{SignUp, SignedUp};
pub use links::{LinkInput, LinkKind, LinkRequest};
use passwords::Passwords;
use sessions::KnownSessions;
pub use sessions::{NewSession, SignedIn};

/// How often a change is tried that loses to another one of the same row.
const EDIT_TRIES: usize = 5;

/// People, their sessions, and one-time links.
pub struct People {
    store: Arc<dyn Store>,
    clock: Clock,
    ids: Arc<Ids>,
    settings: Arc<Settings>,
    limits: Limits,
    audit: Arc<AuditLog>,
    plans: Arc<Plans>,
    access: Arc<AccessControl>,
    mail: Arc<OutboundMail>,
    passwords: Passwords,
    known: KnownSessions,
    /// The first team and its owner, as whom everybody acts where nobody signs in.
    owner: OnceCell<(TeamId, PersonId)>,
}

/// The client of a sign-in, or of another request before one.
#[derive(Debug, Clone, Default)]
pub struct Visitor {
    /// The client's address, where the listener tells it.
    pub address: Option<IpAddr>,
    /// The `User-Agent`; empty without one.
    pub user_agent: String,
    /// The person who is signed in there already.
    pub person: Option<PersonId>,
}

impl People {
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the threads for passwords do not start.
    pub(crate) fn new(
        parts: &Parts,
        access: Arc<AccessControl>,
        mail: Arc<OutboundMail>,
    ) -> Result<Self> {
        Ok(Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            audit: parts.audit.clone(),
            plans: parts.plans.clone(),
            access,
            mail,
            passwords: Passwords::new()?,
            known: KnownSessions::default(),
            owner: OnceCell::new(),
        })
    }

    /// Takes one unit of a subject's allowance of `what`; the key holds a hash of the subject only. A limiter
    /// that does not answer refuses nobody, as the threads for passwords are a bound of their own.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] when the allowance is used up.
    async fn take(&self, what: &str, subject: &str, rate: Rate) -> Result<()> {
        let key = format!("{what}:{}", &sha256_hex(subject)[..32]);
        match self.limits.take_if_answered(&key, rate).await {
            Some(RateDecision::Limited { retry_after }) => Err(Error::TooMany { retry_after }),
            _ => Ok(()),
        }
    }
}

/// `burst` in a minute.
const fn a_minute(burst: u32) -> Rate {
    Rate { burst, per: Duration::from_mins(1) }
}
