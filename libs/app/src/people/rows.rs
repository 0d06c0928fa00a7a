//! Rows of people: finds, makes and changes them.

use trapline_model::{PersonId, Principal, Time};
use trapline_store::{
    Op, PortError, Record, When, load,
    records::{Membership, Person, PersonByEmail, TeamOfPerson},
};

use super::{EDIT_TRIES, People};
use crate::{
    AuditAction, Error, Result,
    audit::{Target, TargetKind},
    mail::EmailAddress,
};

/// What an owner is called who has no address and no other name.
const OWNER: &str = "Owner";
/// Characters of a name at most.
const MAX_NAME_CHARS: usize = 100;

/// The properties of a new person; the password is its hash.
pub(super) struct NewPerson {
    /// `None` for an owner who gives one later.
    pub(super) email: Option<EmailAddress>,
    pub(super) name: String,
    pub(super) password: Option<String>,
    pub(super) verified_at: Option<Time>,
}

/// The person as the API shows them.
pub(super) fn present(person: &Person) -> trapline_model::Person {
    trapline_model::Person {
        id: person.id,
        email: person.email.clone(),
        name: person.name.clone(),
        verified_at: person.verified_at,
        created_at: person.created_at,
    }
}

/// The name to store: `given`, or, where that is empty, the part of the address before the `@`, if there is one.
pub(super) fn name_of(given: &str, email: &str) -> Result<String> {
    let name = given.trim();
    if name.chars().count() > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        let message =
            format!("must have at most {MAX_NAME_CHARS} characters, and no control characters");
        return Err(Error::invalid("name", "invalid_name", message));
    }
    let local = email.split('@').next().filter(|local| !local.is_empty()).unwrap_or(OWNER);
    Ok(if name.is_empty() { local } else { name }.to_owned())
}

impl People {
    /// The person, and the version of the row.
    pub(super) async fn person(&self, id: PersonId) -> Result<Option<(Person, i64)>> {
        Ok(load::<Person>(&*self.store, &Person::row(id)).await?)
    }

    /// Whoever has this address, which is folded.
    pub(super) async fn person_of(&self, email: &str) -> Result<Option<(Person, i64)>> {
        match load::<PersonByEmail>(&*self.store, &PersonByEmail::row(email)).await? {
            // Of a change of addresses one may be claimed that the person does not have yet, or any more.
            Some((claim, _)) => {
                Ok(self.person(claim.person).await?.filter(|(person, _)| person.email == email))
            }
            None => Ok(None),
        }
    }

    /// The id of whoever has this address, which is folded.
    pub(crate) async fn find_by_email(&self, email: &str) -> Result<Option<PersonId>> {
        Ok(self.person_of(email).await?.map(|(person, _)| person.id))
    }

    /// Makes a person who is in no team yet.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when somebody has the address already.
    pub(super) async fn create_person(&self, new: NewPerson) -> Result<Person> {
        let person = Person {
            id: PersonId(self.ids.next()),
            email: new.email.map(|email| email.folded()).unwrap_or_default(),
            next_email: None,
            email_changed_at: None,
            name: new.name,
            password: new.password,
            password_set_at: None,
            verified_at: new.verified_at,
            signed_in_from: Vec::new(),
            created_at: self.clock.now(),
        };
        let put = Op::put(&person, None, When::Absent)?;
        if person.email.is_empty() {
            self.store.write(vec![put]).await?;
            return Ok(person);
        }
        let when = self.claim_condition(&person.email, person.id).await?.ok_or(Error::Conflict)?;
        // The person first: a claim without one does not hold.
        self.store.write(vec![put]).await?;
        match self.claim(&person.email, person.id, when).await {
            Err(Error::Conflict) => {
                let delete = Op::Delete { key: person.key(), when: When::Version(1) };
                self.store.write(vec![delete]).await?;
                Err(Error::Conflict)
            }
            claimed => claimed.map(|()| person),
        }
    }

    /// Changes a person, again when somebody else was faster.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such person, and [`Error::Conflict`] when others change the row
    /// again and again.
    pub(super) async fn change(
        &self,
        id: PersonId,
        change: impl Fn(&mut Person),
    ) -> Result<Person> {
        for _ in 0..EDIT_TRIES {
            let (mut person, version) = self.person(id).await?.ok_or(Error::NotFound)?;
            change(&mut person);
            let put = Op::put(&person, None, When::Version(version))?;
            match self.store.write(vec![put]).await {
                Ok(()) => return Ok(person),
                Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    /// Makes a person a member of the principal's team, with the principal's role or a greater one that they
    /// have.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when somebody else changed the same membership at the same moment.
    pub(crate) async fn join(&self, by: &Principal, person: PersonId) -> Result<()> {
        let (team, role) = (by.team, by.role);
        // The list comes first: a membership that no list names could not be found.
        let listed = TeamOfPerson { person, team };
        self.store.write(vec![Op::put(&listed, None, When::Always)?]).await?;
        let known = load::<Membership>(&*self.store, &Membership::row(team, person)).await?;
        let (joined_at, when) = match known {
            Some((known, _)) if known.role >= role => return Ok(()),
            Some((known, version)) => (known.joined_at, When::Version(version)),
            None => (self.clock.now(), When::Absent),
        };
        let membership = Membership { team, person, role, joined_at };
        let target = Target::new(TargetKind::Member, &person, &self.audit.name_of(by).await);
        let entry = self.audit.entry(by, AuditAction::MemberJoined, target).await;
        self.audit.write(&entry, vec![Op::put(&membership, None, when)?]).await?;
        self.known.forget_role(team, person);
        Ok(())
    }
}
