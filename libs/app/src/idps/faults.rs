//! Faults: asked for over the API, and used exactly as often as that, over all processes.

mod catalog;
mod take;

use std::time::Duration;

use trapline_model::{IdpFault, IdpFaultId, IdpId, IdpUserId, Principal, Time};
use trapline_store::{
    Op, Record as _, When, load,
    records::{IdpFaults, WaitingFault},
};

use super::{Idps, checks::Issues};
use crate::{AuditAction, Error, Result, audit::Target, secrets::new_token};
pub use catalog::{FaultProtocol, FaultScenario};
pub use take::FaultUse;

/// Faults of one provider that wait.
const MAX_FAULTS: usize = 100;
/// How long a fault waits that is used a number of times.
const WAITS: Duration = Duration::from_hours(24);
/// Uses of one fault.
const MAX_TIMES: u32 = 1_000;
/// Uses at the same moment in several processes are written one after another.
const EDIT_TRIES: usize = 50;

/// A fault to be used.
#[derive(Debug, Clone)]
pub struct NewIdpFault {
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's value, where it has one.
    pub value: Option<i64>,
    /// How often it is used; `None` is until it is removed.
    pub times: Option<u32>,
    /// The only user it is for.
    pub user: Option<IdpUserId>,
    /// The only protocol it is for.
    pub protocol: Option<FaultProtocol>,
}

impl NewIdpFault {
    fn check(&self) -> Issues {
        let mut issues = Issues::default();
        let Some(scenario) = FaultScenario::named(&self.scenario) else {
            issues.add("scenario", "unknown", "must be one that GET /api/idp-faults lists");
            return issues;
        };
        match (scenario.bounds(), self.value) {
            (None, None) => {}
            (None, Some(_)) => {
                issues.add("value", "unexpected", "must be left out of this scenario");
            }
            (Some((least, most)), value) => {
                if !value.is_some_and(|value| (least..=most).contains(&value)) {
                    issues.add("value", "out_of_range", format!("must be {least} to {most}"));
                }
            }
        }
        if self.protocol.is_some_and(|protocol| !scenario.protocols().contains(&protocol)) {
            issues.add("protocol", "invalid_value", "must be one in which the scenario exists");
        }
        if self.times.is_some_and(|times| !(1..=MAX_TIMES).contains(&times)) {
            issues.add("times", "out_of_range", format!("must be 1 to {MAX_TIMES}, or null"));
        }
        issues
    }
}

impl Idps {
    /// A provider's faults that wait, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, and when the store does not answer.
    pub async fn faults(&self, by: &Principal, idp: IdpId) -> Result<Vec<IdpFault>> {
        self.load_record(by.team, idp).await?;
        let (faults, _) = self.waiting_faults(idp).await?;
        Ok(faults.faults.iter().map(present).collect())
    }

    /// Asks for a fault.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider; [`Error::Invalid`] for an unknown scenario or
    /// user, a value out of bounds, and more than 100 faults that wait; [`Error::Conflict`] when others
    /// change them at the same moment again and again; and when the store does not answer.
    pub async fn add_fault(
        &self,
        by: &Principal,
        idp: IdpId,
        new: NewIdpFault,
    ) -> Result<IdpFault> {
        let provider = self.load_record(by.team, idp).await?;
        let mut issues = new.check();
        if let Some(user) = new.user {
            self.check_user(idp, user, "userId", &mut issues).await?;
        }
        issues.done()?;
        let now = self.clock.now();
        let fault = WaitingFault {
            id: IdpFaultId(self.ids.next()),
            scenario: new.scenario,
            value: new.value,
            times: new.times,
            remaining: new.times,
            user: new.user,
            protocol: new.protocol.map(|protocol| protocol.name().to_owned()),
            created_at: now,
            expires_at: new.times.map(|_| now.after(WAITS)),
        };
        self.audit.begin(by, AuditAction::IdpFaultsChanged, Target::idp(&provider)).await?;
        self.edit_faults(idp, |faults| {
            if faults.len() >= MAX_FAULTS {
                let message = format!("a provider has at most {MAX_FAULTS} faults that wait");
                return Err(Error::invalid("", "too_many", message));
            }
            faults.push(fault.clone());
            Ok(())
        })
        .await?;
        Ok(present(&fault))
    }

    /// Takes a fault back, or with `None` all of them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such provider, or that no such fault;
    /// [`Error::Conflict`] when others change them at the same moment again and again; and when the store
    /// does not answer.
    pub async fn remove_faults(
        &self,
        by: &Principal,
        idp: IdpId,
        id: Option<IdpFaultId>,
    ) -> Result<()> {
        let provider = self.load_record(by.team, idp).await?;
        let (known, _) = self.waiting_faults(idp).await?;
        if id.is_some_and(|id| !known.faults.iter().any(|fault| fault.id == id)) {
            return Err(Error::NotFound);
        }
        self.audit.begin(by, AuditAction::IdpFaultsChanged, Target::idp(&provider)).await?;
        self.edit_faults(idp, |faults| {
            faults.retain(|fault| id.is_some_and(|id| fault.id != id));
            Ok(())
        })
        .await
    }

    /// The faults that wait now, and the version of their row.
    async fn waiting_faults(&self, idp: IdpId) -> Result<(IdpFaults, Option<i64>)> {
        let found = load::<IdpFaults>(&*self.store, &IdpFaults::row(idp)).await?;
        let Some((mut faults, version)) = found else {
            return Ok((IdpFaults { idp, faults: Vec::new(), edit: String::new() }, None));
        };
        let now = self.clock.now();
        faults.faults.retain(|fault| fault.expires_at.is_none_or(|at| at > now));
        Ok((faults, Some(version)))
    }

    async fn edit_faults<T>(
        &self,
        idp: IdpId,
        edit: impl Fn(&mut Vec<WaitingFault>) -> Result<T>,
    ) -> Result<T> {
        // Those of one process take turns, so that few meet at the store.
        let _turn = self.fault_locks.lock(idp.0).await;
        for _ in 0..EDIT_TRIES {
            let (mut faults, version) = self.waiting_faults(idp).await?;
            let edited = edit(&mut faults.faults)?;
            faults.edit = new_token();
            let when = version.map_or(When::Absent, When::Version);
            if self.put_settled(&faults, None, when).await? {
                return Ok(edited);
            }
        }
        Err(Error::Conflict)
    }

    /// Removes the faults of a provider that is gone.
    pub(super) async fn remove_fault_row(&self, idp: IdpId) -> Result<()> {
        let (faults, version) = self.waiting_faults(idp).await?;
        let Some(version) = version else { return Ok(()) };
        let delete = Op::Delete { key: faults.key(), when: When::Version(version) };
        Ok(self.store.write(vec![delete]).await?)
    }
}

fn present(fault: &WaitingFault) -> IdpFault {
    IdpFault {
        id: fault.id,
        scenario: fault.scenario.clone(),
        value: fault.value,
        times: fault.times,
        remaining: fault.remaining,
        user_id: fault.user,
        protocol: fault.protocol.clone(),
        created_at: fault.created_at,
        expires_at: fault.expires_at,
    }
}

/// Whether a fault is over.
fn is_over(fault: &WaitingFault, now: Time) -> bool {
    fault.remaining == Some(0) || fault.expires_at.is_some_and(|at| at <= now)
}
