//! What people change of what others see of them.

use std::net::IpAddr;

use trapline_model::{PersonId, Principal};

use super::{People, SignedIn, rows::name_of};
use crate::{
    AuditAction, Error, Result,
    audit::{Target, TargetKind},
};

impl People {
    /// Gives whoever is signed in another name; an empty one is the part of the address before the `@`.
    /// Every team of the person has it in its log.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for more than 100 characters and for control characters, and
    /// [`Error::Conflict`] when others change the person again and again.
    pub async fn rename(&self, who: &SignedIn, name: &str) -> Result<()> {
        let (person, _) = self.person(who.person()).await?.ok_or(Error::NotFound)?;
        let name = name_of(name, &person.email)?;
        if name == person.name {
            return Ok(());
        }
        let (address, action) = (who.address(), AuditAction::MemberRenamed);
        let teams = self.tell_teams(person.id, address, action, &name).await?;
        self.change(person.id, |row| row.name.clone_from(&name)).await?;
        for by in &teams {
            self.audit.forget_name(by);
        }
        Ok(())
    }

    /// Has the log of each team of a person tell of what they are about to change about themselves, from
    /// this address of a client. Returns the person as each team has them.
    pub(super) async fn tell_teams(
        &self,
        person: PersonId,
        address: Option<IpAddr>,
        action: AuditAction,
        name: &str,
    ) -> Result<Vec<Principal>> {
        let memberships = self.memberships(person).await?.into_iter();
        let teams: Vec<_> = memberships
            .map(|member| Principal::of_person(member.team, person, member.role).at(address))
            .collect();
        for by in &teams {
            let target = Target::new(TargetKind::Member, &person, name);
            self.audit.begin(by, action, target).await?;
        }
        Ok(teams)
    }
}
