//! Makes, lists and takes back invitations. Accepting one is the use of a link, in `people`.

use trapline_model::{self as model, InvitationId, Principal, Role, TeamId};
use trapline_store::{
    Op, Rate, Record as _, When, load, load_all,
    records::{Invitation, LinkPurpose, Membership},
};

use super::{Teams, notifications, person_of, require_role};
use crate::{
    AuditAction, Error, Forbidden, Result,
    audit::{Target, TargetKind},
    mail::EmailAddress,
    onboarding::Step,
};

/// Open invitations of one team.
const MAX_INVITATIONS: usize = 200;
/// Invitations to one mailbox, by all teams and under all of its tags.
const MAILBOX_RATES: [Rate; 2] = [
    Rate { burst: 5, per: std::time::Duration::from_hours(1) },
    Rate { burst: 10, per: std::time::Duration::from_hours(24) },
];
/// Invitations that one team sends.
const TEAM_RATES: [Rate; 2] = [
    Rate { burst: 60, per: std::time::Duration::from_hours(1) },
    Rate { burst: 300, per: std::time::Duration::from_hours(24) },
];

impl Teams {
    /// The team's open invitations, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below an admin, and when the store does not answer.
    pub async fn invitations(&self, by: &Principal) -> Result<Vec<model::OpenInvitation>> {
        require_role(by, Role::Admin)?;
        let mut open = self.open_invitations(by.team).await?;
        open.sort_by_key(|invitation| (invitation.created_at, invitation.id));
        Ok(open.iter().map(|invitation| present(invitation, None)).collect())
    }

    /// Invites somebody as a member or an admin. With a relay the link is sent; without one the answer has it,
    /// this once. An open invitation of the same address is replaced, and its link works no more.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below an admin and for a new owner, [`Error::Invalid`] for text that is no
    /// address, for somebody who is in the team and for too many open invitations, [`Error::QuotaExceeded`] when
    /// the plan allows no more members, [`Error::TooMany`] for too
    /// many mails, and [`Error::Conflict`] when somebody else invited the same person at the same moment.
    pub async fn invite(
        &self,
        by: &Principal,
        email: &str,
        role: Role,
    ) -> Result<model::OpenInvitation> {
        require_role(by, Role::Admin)?;
        if role == Role::Owner {
            return Err(Error::Forbidden(Forbidden::OwnerRequired));
        }
        let mailbox = EmailAddress::parse("email", email)?;
        let (team, _) = self.team(by).await?;
        self.check_is_no_member(by.team, &mailbox).await?;
        self.plans.check_room(by.team).await?;
        let id = InvitationId(mailbox.id_in(by.team));
        let known = load::<Invitation>(&*self.store, &Invitation::row(by.team, id)).await?;
        if known.is_none() && self.open_invitations(by.team).await?.len() >= MAX_INVITATIONS {
            let message = format!("at most {MAX_INVITATIONS} invitations may be open");
            return Err(Error::invalid("", "too_many", message));
        }
        let is_mailed = self.mail.is_enabled();
        self.limits.take_all("invitation:team", &by.team.to_string(), &TEAM_RATES).await?;
        if is_mailed {
            self.limits.take_all("invitation:mailbox", &mailbox.owner(), &MAILBOX_RATES).await?;
        }
        let purpose = LinkPurpose::Invitation { team: by.team, invitation: id };
        let link = self.people.make_link("invite", purpose, Invitation::VALID).await?;
        let now = self.clock.now();
        let invitation = Invitation {
            id,
            team: by.team,
            email: mailbox.folded(),
            role,
            invited_by: person_of(by)?,
            link: link.sha256,
            is_mailed,
            created_at: now,
            expires_at: now.after(Invitation::VALID),
        };
        let when = known.map_or(When::Absent, |(_, version)| When::Version(version));
        let put = Op::put(&invitation, Some(Invitation::VALID), when)?;
        let entry =
            self.audit.entry(by, AuditAction::InvitationCreated, target_of(&invitation)).await;
        self.audit.write(&entry, vec![put]).await?;
        self.first_steps.note(by.team, Step::Invitation).await;
        if is_mailed {
            let inviter = self.person(invitation.invited_by).await?;
            let inviter = inviter.map(|person| person.name).unwrap_or_default();
            let template = notifications::invitation(&team.name, &inviter, &link.url);
            self.mail.send(&invitation.email, &template).await?;
            return Ok(present(&invitation, None));
        }
        Ok(present(&invitation, Some(link.url)))
    }

    /// Takes an invitation back; its link works no more.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] below an admin, [`Error::NotFound`] when the team has no such invitation, and
    /// [`Error::Conflict`] when it was changed or accepted at the same moment.
    pub async fn revoke_invitation(&self, by: &Principal, id: InvitationId) -> Result<()> {
        require_role(by, Role::Admin)?;
        let found = load::<Invitation>(&*self.store, &Invitation::row(by.team, id)).await?;
        let (invitation, version) = found.ok_or(Error::NotFound)?;
        let delete = Op::Delete { key: invitation.key(), when: When::Version(version) };
        let target = target_of(&invitation);
        let entry = self.audit.entry(by, AuditAction::InvitationDeleted, target).await;
        Ok(self.audit.write(&entry, vec![delete]).await?)
    }

    async fn open_invitations(&self, team: TeamId) -> Result<Vec<Invitation>> {
        Ok(load_all(&*self.store, Invitation::of_team(team, MAX_INVITATIONS)).await?)
    }

    async fn check_is_no_member(&self, team: TeamId, mailbox: &EmailAddress) -> Result<()> {
        let Some(person) = self.people.find_by_email(&mailbox.folded()).await? else {
            return Ok(());
        };
        if self.store.get(&Membership::row(team, person)).await?.is_none() {
            return Ok(());
        }
        Err(Error::invalid("email", "is_member", "is somebody who is in the team already"))
    }
}

fn target_of(invitation: &Invitation) -> Target {
    Target::new(TargetKind::Invitation, &invitation.id, &invitation.email)
}

fn present(invitation: &Invitation, link: Option<String>) -> model::OpenInvitation {
    model::OpenInvitation {
        id: invitation.id,
        email: invitation.email.clone(),
        role: invitation.role,
        created_at: invitation.created_at,
        expires_at: invitation.expires_at,
        mail_sent: invitation.is_mailed,
        link,
    }
}
