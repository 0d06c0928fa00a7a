//! The installation: what its first start makes, which is a team, a project, an inbox, a key
//! and a link for its owner.

mod master_key;

use std::sync::Arc;

use trapline_model::{Access, Inbox, Principal, ProjectId, TeamId};
use trapline_store::{Op, PortError, Store, When, load, records, records::KeyOrigin};

use crate::{
    AccessControl, Error, Inboxes, MailReceiver, NewInbox, NewKey, People, Result, Settings,
    parts::Parts, secrets::Secrets, upgrade::Upgrades,
};

/// How often a row is written that others change at the same moment.
const MAX_TRIES: usize = 5;

/// What a start found or made.
#[derive(Debug)]
pub struct Start {
    /// The first team.
    pub team: TeamId,
    /// The inbox that mail to unknown addresses lands in. `None` when somebody deleted it, and this
    /// process does not catch such mail.
    pub inbox: Option<Inbox>,
    /// The first key's value, until a start has told that it was shown.
    pub new_key: Option<String>,
    /// The link that makes whoever opens it the owner, as long.
    pub owners_link: Option<String>,
}

/// Makes the installation, and checks that it is this process's own.
pub struct Installation {
    store: Arc<dyn Store>,
    secrets: Arc<Secrets>,
    settings: Arc<Settings>,
    access: Arc<AccessControl>,
    inboxes: Arc<Inboxes>,
    receive: Arc<MailReceiver>,
    people: Arc<People>,
    upgrades: Arc<Upgrades>,
}

impl Installation {
    pub(crate) fn new(
        parts: &Parts,
        access: Arc<AccessControl>,
        inboxes: Arc<Inboxes>,
        receive: Arc<MailReceiver>,
        people: Arc<People>,
        upgrades: Arc<Upgrades>,
    ) -> Self {
        let store = parts.ports.store.clone();
        let (secrets, settings) = (parts.secrets.clone(), parts.settings.clone());
        Self { store, secrets, settings, access, inboxes, receive, people, upgrades }
    }

    /// Makes the first team at the first start, and finds it at every other one. `known_key` is the
    /// API key that a setting names; it takes the place of the one that the setting named before.
    ///
    /// Whoever shows the key and the link says so by [`shown`](Self::shown). Until then each start makes them
    /// anew, as one that failed may have kept them to itself; what it made works beside them.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`] when secrets are there that this process's master key does not open,
    /// and [`Error::Invalid`] for a known key that is none.
    pub async fn start(&self, known_key: Option<&str>) -> Result<Start> {
        let (run, is_untold) = match self.access.installed().await? {
            Some(run) => {
                let is_untold = run.is_untold;
                (run, is_untold)
            }
            None => self.install().await?,
        };
        self.check_master_key().await?;
        let owners_link = match known_key {
            None if is_untold && self.people.wants_sign_in() => {
                Some(self.people.operators_link(run.team, None).await?)
            }
            _ => None,
        };
        let new_key = match known_key {
            Some(value) => self.access.set_configured_key(run.team, value).await.map(|()| None)?,
            None if is_untold => Some(self.first_key(&Principal::system(run.team)).await?),
            None => None,
        };
        let inbox = if self.settings.catch_all {
            self.receive.catch_all().await?.inbox()
        } else {
            run.inbox
        };
        let inbox = match self.inboxes.get(&Principal::system(run.team), inbox).await {
            Ok(inbox) => Some(inbox),
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        Ok(Start { team: run.team, inbox, new_key, owners_link })
    }

    /// Takes note that the first key and the owner's link were shown, or that nobody wants to see them.
    ///
    /// # Errors
    ///
    /// When the store does not answer; the next start then makes them once more.
    pub async fn shown(&self) -> Result<()> {
        for _ in 0..MAX_TRIES {
            let found = load::<records::FirstRun>(&*self.store, &records::FirstRun::row()).await?;
            let Some((run, version)) = found.filter(|(run, _)| run.is_untold) else {
                return Ok(());
            };
            let told = records::FirstRun { is_untold: false, ..run };
            let put = Op::put(&told, None, When::Version(version))?;
            match self.store.write(vec![put]).await {
                // Another process has another inbox for unknown addresses.
                Err(PortError::Conflict) => {}
                written => return Ok(written?),
            }
        }
        Err(Error::Conflict)
    }

    async fn install(&self) -> Result<(records::FirstRun, bool)> {
        let team = self.access.create_team_on(records::Team::UNLIMITED, "My team").await?;
        let by = Principal::system(team);
        let project = self.inboxes.create_project(&by, "Default".to_owned()).await?;
        let catch_all = self.settings.catch_all_inbox.clone();
        let new = NewInbox { project: Some(project.id), ..NewInbox::named(&catch_all) };
        let inbox = self.inboxes.create(&by, new).await?;
        let run = records::FirstRun { team, inbox: inbox.id, catch_all, is_untold: true };
        let put = Op::put(&run, None, When::Absent)?;
        match self.store.write(vec![put]).await {
            Ok(()) => Ok((run, true)),
            // Another process was first: its team is the one.
            Err(PortError::Conflict) => {
                self.take_back(&inbox, team, project.id).await?;
                self.access.installed().await?.map(|run| (run, false)).ok_or(Error::Conflict)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes what this process made while another one made the installation.
    async fn take_back(&self, inbox: &Inbox, team: TeamId, project: ProjectId) -> Result<()> {
        let removal = async {
            let found = self.inboxes.versioned(team, inbox.id).await?;
            self.inboxes.remove_rows(&Principal::system(team), found, None).await
        };
        match removal.await {
            Ok(()) | Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
        let mut ops =
            vec![Op::Delete { key: records::Project::row(team, project), when: When::Always }];
        let row = records::Team::row(team);
        if let Some((_, version)) = load::<records::Team>(&*self.store, &row).await? {
            ops.push(Op::Delete { key: row, when: When::Version(version) });
        }
        Ok(self.store.write(ops).await?)
    }

    async fn first_key(&self, by: &Principal) -> Result<String> {
        let new = NewKey {
            name: "First key".to_owned(),
            access: Access::Write,
            expires_at: None,
            value: None,
        };
        let (_, value) = self.access.create_key_of(by, new, KeyOrigin::FirstRun).await?;
        Ok(value)
    }
}
