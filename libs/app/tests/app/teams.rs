//! Teams: who is in them, and how people come and go.

use trapline_app::{Error, Forbidden, LinkInput, NewKey, NewSession, SignUp, SignedUp, Visitor};
use trapline_model::{Access, OpenInvitation, PersonId, Principal, Role, TeamId};
use trapline_store::{
    Op, Record, When,
    records::{Membership, Person, PersonByEmail, TeamOfPerson},
};
use uuid::Uuid;

use crate::support::Bench;

const PASSWORD: &str = "correct horse";

async fn put<R: Record>(bench: &Bench, record: &R, when: When) {
    let put = Op::put(record, None, when).unwrap();
    bench.ports.store.write(vec![put]).await.unwrap();
}

/// A person without a password who has this role in the team.
async fn member(bench: &Bench, team: TeamId, number: u128, role: Role) -> Principal {
    let (id, email) = (PersonId(Uuid::from_u128(number)), format!("p{number}@example.com"));
    let now = bench.clock.now();
    let person = Person {
        id,
        email: email.clone(),
        next_email: None,
        email_changed_at: None,
        name: format!("P{number}"),
        password: None,
        password_set_at: None,
        verified_at: None,
        signed_in_from: Vec::new(),
        created_at: now,
    };
    put(bench, &person, When::Absent).await;
    put(bench, &PersonByEmail { email, person: id }, When::Absent).await;
    put(bench, &TeamOfPerson { person: id, team }, When::Always).await;
    put(bench, &Membership { team, person: id, role, joined_at: now }, When::Absent).await;
    Principal::of_person(team, id, role)
}

fn token(invitation: &OpenInvitation) -> &str {
    invitation.link.as_deref().unwrap().split_once("?token=").unwrap().1
}

fn says(password: &str) -> LinkInput {
    LinkInput { password: password.to_owned(), ..LinkInput::default() }
}

async fn roles(bench: &Bench, by: &Principal) -> Vec<(String, Role)> {
    let members = bench.app.teams().members(by).await.unwrap();
    members.into_iter().map(|member| (member.email, member.role)).collect()
}

fn is_forbidden<T>(outcome: &trapline_app::Result<T>, why: Forbidden) -> bool {
    matches!(outcome, Err(Error::Forbidden(found)) if *found == why)
}

#[tokio::test]
async fn whoever_is_handed_a_link_joins_once() {
    let bench = Bench::new().await;
    let (teams, people) = (bench.app.teams(), bench.app.people());
    let by = member(&bench, bench.team, 1, Role::Owner).await;
    let made = teams.invite(&by, " New@Example.com", Role::Admin).await.unwrap();
    assert_eq!((made.email.as_str(), made.mail_sent), ("new@example.com", false));
    assert!(teams.invitations(&by).await.unwrap()[0].link.is_none(), "it is shown once");
    let visitor = Visitor::default();
    for _ in 0..2 {
        let asked = people.link(token(&made), &visitor).await.unwrap();
        assert_eq!(asked.email.as_deref(), Some("new@example.com"));
        assert_eq!((asked.team.as_deref(), asked.is_new), (Some("My team"), true));
    }
    let weak = people.use_link(token(&made), says("short"), &visitor).await;
    assert!(matches!(weak, Err(Error::Invalid(_))), "{weak:?}");
    let session = people.use_link(token(&made), says(PASSWORD), &visitor).await.unwrap();
    let joined = session.signed_in.principal().unwrap();
    assert_eq!((joined.team, joined.role), (bench.team, Role::Admin));
    let again = people.use_link(token(&made), says(PASSWORD), &visitor).await;
    assert!(matches!(again, Err(Error::NotFound)), "{again:?}");
    assert!(teams.invitations(&by).await.unwrap().is_empty());
    let told = bench.app.audit().latest(&by).await.unwrap();
    let told: Vec<_> = told.iter().take(2).map(|entry| entry.action.as_str()).collect();
    assert_eq!(told, ["member.joined", "invitation.created"]);
    let found = teams.invite(&by, "new@example.com", Role::Member).await;
    assert!(matches!(found, Err(Error::Invalid(_))), "{found:?}");
}

#[tokio::test]
async fn a_link_is_over_when_another_is_made_or_it_is_taken_back_or_its_maker_may_no_more() {
    let bench = Bench::new().await;
    let (teams, people, visitor) = (bench.app.teams(), bench.app.people(), Visitor::default());
    let owner = member(&bench, bench.team, 1, Role::Owner).await;
    let admin = member(&bench, bench.team, 2, Role::Admin).await;
    let is_over = async |link: &OpenInvitation| {
        let asked = people.link(token(link), &visitor).await;
        let used = people.use_link(token(link), says(PASSWORD), &visitor).await;
        matches!((asked, used), (Err(Error::NotFound), Err(Error::NotFound)))
    };
    let first = teams.invite(&admin, "a@example.com", Role::Member).await.unwrap();
    let second = teams.invite(&admin, "A@example.com", Role::Member).await.unwrap();
    assert_eq!(first.id, second.id);
    assert!(is_over(&first).await);
    teams.change_role(&owner, PersonId(Uuid::from_u128(2)), Role::Member).await.unwrap();
    assert!(is_over(&second).await);
    let third = teams.invite(&owner, "a@example.com", Role::Member).await.unwrap();
    teams.revoke_invitation(&owner, third.id).await.unwrap();
    assert!(is_over(&third).await);
    let fourth = teams.invite(&owner, "a@example.com", Role::Member).await.unwrap();
    bench.clock.advance(std::time::Duration::from_hours(7 * 24));
    assert!(is_over(&fourth).await);
    assert!(teams.invitations(&owner).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_link_that_was_handed_on_opens_nobodys_account() {
    let bench = Bench::new().await;
    let (teams, people, visitor) = (bench.app.teams(), bench.app.people(), Visitor::default());
    let owner = member(&bench, bench.team, 1, Role::Owner).await;
    let elsewhere = bench.app.access().create_team("Elsewhere").await.unwrap();
    member(&bench, elsewhere, 3, Role::Member).await;
    let link = teams.invite(&owner, "p3@example.com", Role::Member).await.unwrap();
    let used = people.use_link(token(&link), says(PASSWORD), &visitor).await;
    assert!(matches!(used, Err(Error::NotFound)), "{used:?}");
}

/// Signs somebody up, with a team of their own.
async fn signed_up(bench: &Bench, email: &str) -> NewSession {
    let wish =
        SignUp { email: email.to_owned(), name: String::new(), password: PASSWORD.to_owned() };
    match bench.app.people().sign_up(&wish, &Visitor::default()).await.unwrap() {
        SignedUp::Now(session) => session,
        SignedUp::MailSent => panic!("no mail can be sent"),
    }
}

#[tokio::test]
async fn whoever_is_signed_in_joins_without_a_password_and_as_nobody_else() {
    let bench = Bench::new().await;
    let (teams, people) = (bench.app.teams(), bench.app.people());
    let owner = member(&bench, bench.team, 1, Role::Owner).await;
    let ada = signed_up(&bench, "ada@example.com").await;
    let eve = signed_up(&bench, "eve@example.com").await;
    let own = ada.signed_in.principal().unwrap().team;
    let there = |session: &NewSession| Visitor {
        person: Some(session.signed_in.person()),
        ..Visitor::default()
    };
    let link = teams.invite(&owner, "Ada@example.com", Role::Member).await.unwrap();
    assert!(people.link(token(&link), &there(&eve)).await.unwrap().wants_password());
    let refused = people.use_link(token(&link), LinkInput::default(), &there(&eve)).await;
    let Err(Error::Invalid(issues)) = refused else { panic!("{refused:?}") };
    assert_eq!((issues[0].path.as_str(), issues[0].code), ("email", "other_person"));
    let nobody = people.use_link(token(&link), LinkInput::default(), &Visitor::default()).await;
    assert!(matches!(nobody, Err(Error::Invalid(_))), "{nobody:?}");

    assert!(!people.link(token(&link), &there(&ada)).await.unwrap().wants_password());
    let used = people.use_link(token(&link), LinkInput::default(), &there(&ada)).await;
    let session = used.unwrap();
    // The new session is in the team that was joined, though there is an older one.
    let joined = session.signed_in.principal().unwrap();
    assert_eq!((joined.team, joined.role), (bench.team, Role::Member));
    let again = people.use_link(token(&link), LinkInput::default(), &there(&ada)).await;
    assert!(matches!(again, Err(Error::NotFound)), "{again:?}");

    // Whoever leaves or is removed goes on with another team of theirs, or with none.
    let now_in = async |session: &NewSession| {
        let who = people.authenticate(&session.token, &Visitor::default()).await.unwrap();
        who.principal().map(|by| by.team)
    };
    assert_eq!(now_in(&session).await, Some(bench.team));
    teams.leave(&joined).await.unwrap();
    assert_eq!(now_in(&session).await, Some(own));
    let link = teams.invite(&owner, "new@example.com", Role::Member).await.unwrap();
    let new = people.use_link(token(&link), says(PASSWORD), &Visitor::default()).await.unwrap();
    assert_eq!(now_in(&new).await, Some(bench.team));
    teams.remove(&owner, new.signed_in.person()).await.unwrap();
    assert_eq!(now_in(&new).await, None);
    assert!(people.me(&new.signed_in).await.unwrap().teams.is_empty());
}

#[tokio::test]
async fn people_come_and_go_and_there_is_one_owner() {
    let bench = Bench::new().await;
    let teams = bench.app.teams();
    let owner = member(&bench, bench.team, 1, Role::Owner).await;
    let admin = member(&bench, bench.team, 2, Role::Admin).await;
    let third = member(&bench, bench.team, 3, Role::Member).await;
    let [one, two, three] = [1, 2, 3].map(|number| PersonId(Uuid::from_u128(number)));
    assert!(is_forbidden(
        &teams.change_role(&third, two, Role::Member).await,
        Forbidden::AdminRequired
    ));
    assert!(is_forbidden(
        &teams.change_role(&admin, one, Role::Member).await,
        Forbidden::OwnerStays
    ));
    assert!(is_forbidden(&teams.remove(&admin, one).await, Forbidden::OwnerStays));
    assert!(is_forbidden(&teams.leave(&owner).await, Forbidden::OwnerStays));
    assert!(is_forbidden(&teams.transfer(&admin, two).await, Forbidden::OwnerRequired));
    assert!(is_forbidden(&teams.rename(&third, "X".to_owned()).await, Forbidden::AdminRequired));
    assert!(is_forbidden(&teams.members(&bench.by).await, Forbidden::PersonRequired));
    assert_eq!(teams.rename(&admin, "Ours".to_owned()).await.unwrap().name, "Ours");

    teams.transfer(&owner, two).await.unwrap();
    let roles_now: Vec<_> = roles(&bench, &owner).await.into_iter().map(|(_, role)| role).collect();
    assert_eq!(roles_now, [Role::Admin, Role::Owner, Role::Member]);
    assert!(is_forbidden(&teams.transfer(&owner, three).await, Forbidden::OwnerRequired));

    let new = NewKey { name: "CI".to_owned(), access: Access::Read, expires_at: None, value: None };
    let (key, _) = bench.app.access().make_key(&owner, new).await.unwrap();
    let removed = teams.remove(&admin, one).await.unwrap();
    assert_eq!(removed.keys.iter().map(|key| key.id).collect::<Vec<_>>(), [key.id]);
    teams.leave(&third).await.unwrap();
    assert_eq!(roles(&bench, &admin).await, [("p2@example.com".to_owned(), Role::Owner)]);
    assert!(matches!(teams.leave(&third).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn another_teams_people_are_not_there() {
    let bench = Bench::new().await;
    let other = bench.app.access().create_team("Other").await.unwrap();
    member(&bench, bench.team, 1, Role::Member).await;
    let theirs = member(&bench, other, 2, Role::Owner).await;
    let ours = PersonId(Uuid::from_u128(1));
    let teams = bench.app.teams();
    assert!(matches!(teams.remove(&theirs, ours).await, Err(Error::NotFound)));
    assert!(matches!(teams.change_role(&theirs, ours, Role::Admin).await, Err(Error::NotFound)));
    assert!(matches!(teams.transfer(&theirs, ours).await, Err(Error::NotFound)));
    assert_eq!(roles(&bench, &theirs).await.len(), 1);
}
