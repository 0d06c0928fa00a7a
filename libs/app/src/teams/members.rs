//! The members of a team: lists them, changes roles, removes members, and hands the team over.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::{Member, PersonId, Principal, RemovedMember, Role};
use trapline_store::{
    Op, Record as _, When, load, load_all,
    records::{Membership, TeamOfPerson},
};

use super::{EDIT_TRIES, Teams, is_conflict, person_of, require_role};
use crate::{
    AuditAction, Error, Forbidden, Result,
    audit::{Target, TargetKind},
};

/// Members of one team that are listed.
const MAX_MEMBERS: usize = 1_000;
/// People that are read at the same time.
const MAX_CONCURRENT_READS: usize = 16;

impl Teams {
    /// The team's members, the longest one first; 1,000 at most.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for a key, and when the store does not answer.
    pub async fn members(&self, by: &Principal) -> Result<Vec<Member>> {
        person_of(by)?;
        let scan = Membership::of_team(by.team, MAX_MEMBERS);
        let members = load_all::<Membership>(&*self.store, scan).await?.into_iter();
        let members = members.map(|membership| self.member(membership));
        let mut members: Vec<_> =
            stream::iter(members).buffered(MAX_CONCURRENT_READS).try_collect().await?;
        members.sort_by_key(|member| (member.joined_at, member.id));
        Ok(members)
    }

    /// Gives somebody another role. The owner stays the owner until the team is handed over.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below an admin, and for the owner's role; [`Error::NotFound`] when the
    /// person is not in the team; [`Error::Conflict`] when others change it again and again.
    pub async fn change_role(
        &self,
        by: &Principal,
        person: PersonId,
        role: Role,
    ) -> Result<Member> {
        require_role(by, Role::Admin)?;
        if role == Role::Owner {
            return Err(Error::Forbidden(Forbidden::OwnerRequired));
        }
        for _ in 0..EDIT_TRIES {
            let (mut membership, version) = self.membership(by, person).await?;
            check_is_not_owner(&membership)?;
            membership.role = role;
            let put = Op::put(&membership, None, When::Version(version))?;
            let target = self.target(person).await?;
            let entry = self.audit.entry(by, AuditAction::MemberRoleChanged, target).await;
            let written = self.audit.write(&entry, vec![put]).await;
            if is_conflict(&written) {
                continue;
            }
            written?;
            self.people.forget_role(by.team, person);
            return self.member(membership).await;
        }
        Err(Error::Conflict)
    }

    /// Removes somebody: their sessions act for another of their teams or for none, at once here and within
    /// 5 seconds everywhere. Returns the keys that they made, which still work.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below an admin, and for the owner; [`Error::NotFound`] when the person
    /// is not in the team; [`Error::Conflict`] when others change it again and again.
    pub async fn remove(&self, by: &Principal, person: PersonId) -> Result<RemovedMember> {
        require_role(by, Role::Admin)?;
        self.end_membership(by, person, AuditAction::MemberRemoved).await?;
        let mut keys = self.access.list_keys(by).await?;
        keys.retain(|key| key.created_by.as_ref().is_some_and(|maker| maker.id == person));
        Ok(RemovedMember { keys })
    }

    /// Leaves the team, which the owner cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] for a key and for the owner, and [`Error::Conflict`] when others change it again and
    /// again.
    pub async fn leave(&self, by: &Principal) -> Result<()> {
        let person = person_of(by)?;
        self.end_membership(by, person, AuditAction::MemberLeft).await
    }

    /// Hands the team over to another of its people; who had it is an admin from then on.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below the owner, [`Error::NotFound`] when the other one is not in the
    /// team, and [`Error::Conflict`] when somebody changed one of both at the same moment.
    pub async fn transfer(&self, by: &Principal, to: PersonId) -> Result<Vec<Member>> {
        require_role(by, Role::Owner)?;
        let from = person_of(by)?;
        let (mut old, old_version) = self.membership(by, from).await?;
        if old.role != Role::Owner {
            return Err(Error::Forbidden(Forbidden::OwnerRequired));
        }
        if to == from {
            return self.members(by).await;
        }
        let (mut new, new_version) = self.membership(by, to).await?;
        (old.role, new.role) = (Role::Admin, Role::Owner);
        // Both are in one partition, so there is one owner at any moment.
        let ops = vec![
            Op::put(&old, None, When::Version(old_version))?,
            Op::put(&new, None, When::Version(new_version))?,
        ];
        let target = self.target(to).await?;
        let entry = self.audit.entry(by, AuditAction::TeamTransferred, target).await;
        self.audit.write(&entry, ops).await?;
        self.people.forget_role(by.team, from);
        self.people.forget_role(by.team, to);
        self.members(by).await
    }

    /// Ends a membership. The person's sessions act for another of their teams from their next request on.
    async fn end_membership(
        &self,
        by: &Principal,
        person: PersonId,
        action: AuditAction,
    ) -> Result<()> {
        for _ in 0..EDIT_TRIES {
            let (membership, version) = self.membership(by, person).await?;
            check_is_not_owner(&membership)?;
            let listed = TeamOfPerson { person, team: by.team };
            let ops = vec![
                Op::Delete { key: membership.key(), when: When::Version(version) },
                // The list goes last: it alone makes nobody a member.
                Op::Delete { key: listed.key(), when: When::Always },
            ];
            let entry = self.audit.entry(by, action, self.target(person).await?).await;
            let written = self.audit.write(&entry, ops).await;
            if is_conflict(&written) {
                continue;
            }
            written?;
            self.people.forget_role(by.team, person);
            return Ok(());
        }
        Err(Error::Conflict)
    }

    async fn membership(&self, by: &Principal, person: PersonId) -> Result<(Membership, i64)> {
        let row = Membership::row(by.team, person);
        load(&*self.store, &row).await?.ok_or(Error::NotFound)
    }

    async fn member(&self, membership: Membership) -> Result<Member> {
        let Membership { person: id, role, joined_at, .. } = membership;
        let person = self.person(id).await?;
        let (email, name) = person.map(|person| (person.email, person.name)).unwrap_or_default();
        Ok(Member { id, email, name, role, joined_at })
    }

    async fn target(&self, person: PersonId) -> Result<Target> {
        let name = self.person(person).await?.map(|person| person.name).unwrap_or_default();
        Ok(Target::new(TargetKind::Member, &person, &name))
    }
}

fn check_is_not_owner(membership: &Membership) -> Result<()> {
    if membership.role == Role::Owner {
        // Only the owner decides about the owner: by handing the team over.
        return Err(Error::Forbidden(Forbidden::OwnerStays));
    }
    Ok(())
}
