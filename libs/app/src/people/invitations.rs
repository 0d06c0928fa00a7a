//! Accepting an invitation to a team, by its link.

use trapline_model::{InvitationId, PersonId, Principal, Role, TeamId};
use trapline_store::{
    Op, PortError, Record as _, When, load,
    records::{Invitation, Membership, Person, Team},
};

use super::{
    LinkInput, LinkKind, LinkRequest, People, Visitor,
    links::not_its_password,
    origin::PasswordOrigin,
    passwords::check_new,
    rows::{NewPerson, name_of},
};
use crate::{Error, Result, mail::EmailAddress};

impl People {
    /// The invitation of a link, with its version, if it still holds: it has no newer link, and whoever
    /// invited may still do so.
    pub(super) async fn invitation(
        &self,
        team: TeamId,
        id: InvitationId,
        link: &str,
    ) -> Result<(Invitation, i64)> {
        let found = load::<Invitation>(&*self.store, &Invitation::row(team, id)).await?;
        let found = found.filter(|(invitation, _)| invitation.link == link);
        let (invitation, version) = found.ok_or(Error::NotFound)?;
        if !self.plans.is_there(team).await? {
            return Err(Error::NotFound);
        }
        let row = Membership::row(team, invitation.invited_by);
        let inviter = load::<Membership>(&*self.store, &row).await?;
        let least = invitation.role.max(Role::Admin);
        let may_invite = inviter.is_some_and(|(inviter, _)| inviter.role >= least);
        if may_invite { Ok((invitation, version)) } else { Err(Error::NotFound) }
    }

    /// What the link of an invitation asks for.
    pub(super) async fn invitation_request(
        &self,
        invitation: Invitation,
        visitor: &Visitor,
    ) -> Result<LinkRequest> {
        let row = Team::row(invitation.team);
        let (team, _) = load::<Team>(&*self.store, &row).await?.ok_or(Error::NotFound)?;
        let known = self.person_of(&invitation.email).await?.map(|(person, _)| person);
        Ok(LinkRequest {
            kind: LinkKind::Invitation,
            email: Some(invitation.email),
            is_new: known.is_none(),
            team: Some(team.name),
            is_own: is_signed_in(known.as_ref(), visitor),
            has_password: known.is_some_and(|person| person.password.is_some()),
        })
    }

    /// Has whoever uses the link join, as the person with the address that was invited.
    pub(super) async fn accept(
        &self,
        (invitation, version): (Invitation, i64),
        input: &LinkInput,
        used: Op,
        visitor: &Visitor,
    ) -> Result<PersonId> {
        let email = EmailAddress::parse("email", &invitation.email)?;
        let name = name_of(&input.name, email.as_str())?;
        let known = self.person_of(&invitation.email).await?.map(|(person, _)| person);
        // Others may have joined since the invitation, or the plan may be a smaller one.
        self.plans.check_room(invitation.team).await?;
        let password = self.password_for(&invitation, known.as_ref(), input, visitor).await?;
        // Of two uses at the same moment, one finds the invitation gone.
        let delete = Op::Delete { key: invitation.key(), when: When::Version(version) };
        match self.store.write(vec![delete, used]).await {
            Err(PortError::Conflict) => return Err(Error::NotFound),
            written => written?,
        }
        // Only a mail shows that whoever has the link has the address too.
        let verified_at = invitation.is_mailed.then(|| self.clock.now());
        let new = NewPerson { email: Some(email), name, password, verified_at };
        let person = self.person_or_new(known.as_ref(), new).await?;
        let by = Principal::of_person(invitation.team, person, invitation.role);
        self.join(&by.at(visitor.address), person).await?;
        Ok(person)
    }

    /// The hash of the person's first password; `None` for a person who has one, and gave it or is signed
    /// in.
    async fn password_for(
        &self,
        invitation: &Invitation,
        known: Option<&Person>,
        input: &LinkInput,
        visitor: &Visitor,
    ) -> Result<Option<String>> {
        if is_signed_in(known, visitor) {
            return Ok(None);
        }
        if visitor.person.is_some() && input.password.is_empty() {
            let message =
                "is not the one that you are signed in with: sign out, or sign in with it";
            return Err(Error::invalid("email", "other_person", message));
        }
        let origin = PasswordOrigin::of(visitor, known);
        match known {
            Some(Person { password: Some(hash), .. }) => {
                self.may_sign_in(&invitation.email, visitor).await?;
                if self.passwords.verify(&input.password, Some(hash), origin).await? {
                    return Ok(None);
                }
                Err(not_its_password())
            }
            // The account may belong to somebody else than the one who was handed the link.
            Some(_) if !invitation.is_mailed => Err(Error::NotFound),
            _ => {
                check_new(&input.password, &invitation.email)?;
                self.passwords.hash(&input.password, origin).await.map(Some)
            }
        }
    }
}

/// Whether the visitor is signed in as this person.
fn is_signed_in(person: Option<&Person>, visitor: &Visitor) -> bool {
    person.is_some_and(|person| Some(person.id) == visitor.person)
}
