//! Single sign-on of teams: whom a provider lets in, and where to.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::sync::watch;
use trapline_app::{
    Authorization, Error, ExternalAccount, Forbidden, IdentityProvider, LinkInput, NewSession,
    ProviderAnswer, ProviderClient, ProviderFailure, SsoAnswer, SsoProblem, SsoSettings, Visitor,
};
use trapline_model::{Principal, Role, TeamId};

use crate::support::Bench;

const PASSWORD: &str = "correct horse";
const OWNER: &str = "ada@example.com";

/// Sends everybody back as the account that the test sets.
#[derive(Default)]
struct Provider(Mutex<Option<ExternalAccount>>, Gate);

/// How many conversations there are, and whether they go on.
struct Gate {
    under_way: AtomicUsize,
    open: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { under_way: AtomicUsize::default(), open: watch::Sender::new(true) }
    }
}

impl Gate {
    async fn pass(&self) {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        self.open.subscribe().wait_for(|open| *open).await.unwrap();
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl IdentityProvider for Provider {
    fn check(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn discover(&self, _: &str) -> Result<(), ProviderFailure> {
        Ok(())
    }

    async fn authorize(
        &self,
        client: &ProviderClient,
        hint: &str,
    ) -> Result<Authorization, ProviderFailure> {
        assert_eq!(client.client_secret, "s3cret");
        self.1.pass().await;
        let text = |text: &str| text.to_owned();
        Ok(Authorization {
            url: format!("{}?{hint}", client.issuer),
            state: text("state"),
            nonce: text("nonce"),
            verifier: text("verifier"),
        })
    }

    async fn account(
        &self,
        _: &ProviderClient,
        answer: &ProviderAnswer,
    ) -> Result<ExternalAccount, ProviderFailure> {
        assert_eq!((&*answer.nonce, &*answer.verifier), ("nonce", "verifier"));
        let account = self.0.lock().unwrap().clone();
        account.ok_or(ProviderFailure::BadToken("signature"))
    }
}

struct Desk {
    bench: Bench,
    provider: Arc<Provider>,
    owner: Principal,
}

fn account(subject: &str, email: &str) -> ExternalAccount {
    ExternalAccount {
        subject: subject.to_owned(),
        email: Some(email.to_owned()),
        is_email_verified: true,
        name: String::new(),
    }
}

fn settings(domains: &[&str]) -> SsoSettings {
    SsoSettings {
        issuer: "https://login.example".to_owned(),
        client_id: "client".to_owned(),
        client_secret: Some("s3cret".to_owned()),
        domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
        enforced: false,
    }
}

fn problem(outcome: trapline_app::Result<NewSession>) -> SsoProblem {
    match outcome {
        Err(Error::Sso(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

impl Desk {
    /// The first team, whose owner is Ada, with a verified domain.
    async fn new() -> Self {
        let bench = Bench::new().await;
        let provider = Arc::new(Provider::default());
        bench.app.sso().set_provider(provider.clone());
        let token = bench.owners_link.split_once("?token=").unwrap().1;
        let session = bench.app.people().use_link(token, input(OWNER), &Visitor::default()).await;
        let owner = session.unwrap().signed_in.principal().unwrap();
        bench.app.sso().put(&owner, settings(&["example.com"])).await.unwrap();
        bench.app.sso().verify_domain(bench.team, "Example.com").await.unwrap();
        Self { bench, provider, owner }
    }

    async fn begin(&self) -> SsoAnswer {
        let begun = self.bench.app.sso().begin("x@Example.com", &Visitor::default()).await.unwrap();
        SsoAnswer {
            state: "state".to_owned(),
            code: "code".to_owned(),
            sealed: begun.sealed,
            ..SsoAnswer::default()
        }
    }

    async fn come_as(&self, account: ExternalAccount) -> trapline_app::Result<NewSession> {
        *self.provider.0.lock().unwrap() = Some(account);
        let answer = self.begin().await;
        self.bench.app.sso().finish(self.bench.team, &answer, &Visitor::default()).await
    }

    async fn put(&self, settings: SsoSettings) -> trapline_app::Result<()> {
        self.bench.app.sso().put(&self.owner, settings).await.map(drop)
    }
}

fn input(email: &str) -> LinkInput {
    LinkInput { email: email.to_owned(), password: PASSWORD.to_owned(), ..LinkInput::default() }
}

fn team_of(session: &NewSession) -> Option<(TeamId, Role)> {
    session.signed_in.principal().map(|by| (by.team, by.role))
}

#[tokio::test]
async fn the_first_time_needs_a_verified_address_of_a_verified_domain() {
    let desk = Desk::new().await;
    let unverified = ExternalAccount { is_email_verified: false, ..account("1", OWNER) };
    assert_eq!(problem(desk.come_as(unverified).await), SsoProblem::UnverifiedEmail);
    let nameless = ExternalAccount { email: None, ..account("1", OWNER) };
    assert_eq!(problem(desk.come_as(nameless).await), SsoProblem::UnverifiedEmail);
    for other in ["eve@other.example", "eve@sub.example.com", "eve@example.com.evil.example"] {
        assert_eq!(problem(desk.come_as(account("1", other)).await), SsoProblem::OtherDomain);
    }
    let session = desk.come_as(account("1", OWNER)).await.unwrap();
    assert_eq!(team_of(&session), Some((desk.bench.team, Role::Owner)));
    // From then on the account counts, and no address.
    let moved = ExternalAccount { is_email_verified: false, ..account("1", "new@other.example") };
    let again = desk.come_as(moved).await.unwrap();
    assert_eq!(again.signed_in.person(), session.signed_in.person());
    // A domain that was given up is not the team's any more.
    desk.put(settings(&["other.example"])).await.unwrap();
    let gone = desk.bench.app.sso().begin("x@example.com", &Visitor::default()).await;
    assert!(matches!(gone, Err(Error::Sso(SsoProblem::NoTeam))), "{gone:?}");
    desk.put(settings(&["example.com"])).await.unwrap();
    let gone = desk.bench.app.sso().begin("x@example.com", &Visitor::default()).await;
    assert!(matches!(gone, Err(Error::Sso(SsoProblem::NoTeam))), "{gone:?}");
}

#[tokio::test]
async fn a_sign_in_ends_where_it_began_and_in_time() {
    let desk = Desk::new().await;
    let (sso, visitor) = (desk.bench.app.sso(), Visitor::default());
    *desk.provider.0.lock().unwrap() = Some(account("1", OWNER));
    let good = desk.begin().await;
    let other = desk.bench.app.access().create_team("Other").await.unwrap();
    let with = |state: &str, sealed: &str| SsoAnswer {
        state: state.to_owned(),
        code: "code".to_owned(),
        sealed: sealed.to_owned(),
        ..SsoAnswer::default()
    };
    for (team, answer) in [
        (desk.bench.team, with("other", &good.sealed)),
        (desk.bench.team, with("state", "")),
        (desk.bench.team, with("state", &good.sealed[1..])),
        (other, with("state", &good.sealed)),
    ] {
        let refused = sso.finish(team, &answer, &visitor).await;
        assert_eq!(problem(refused), SsoProblem::NotBegun, "{answer:?}");
    }
    desk.bench.clock.advance(Duration::from_secs(599));
    assert!(sso.finish(desk.bench.team, &good, &visitor).await.is_ok());
    desk.bench.clock.advance(Duration::from_secs(1));
    let late = sso.finish(desk.bench.team, &good, &visitor).await;
    assert_eq!(problem(late), SsoProblem::NotBegun);
    *desk.provider.0.lock().unwrap() = None;
    let bad = ProviderFailure::BadToken("signature");
    let refused = sso.finish(desk.bench.team, &desk.begin().await, &visitor).await;
    assert_eq!(problem(refused), SsoProblem::Provider(bad));
}

#[tokio::test]
async fn a_provider_lets_people_into_its_own_team_only() {
    let desk = Desk::new().await;
    let (people, visitor) = (desk.bench.app.people(), Visitor::default());
    // Bob signed up here, so there is a team of his own, and has not confirmed his address.
    let wish = trapline_app::SignUp {
        email: "bob@example.com".to_owned(),
        name: "Bob".to_owned(),
        password: PASSWORD.to_owned(),
    };
    people.sign_up(&wish, &visitor).await.unwrap();
    let refused = desk.come_as(account("2", "bob@example.com")).await;
    assert_eq!(problem(refused), SsoProblem::UnconfirmedAccount);
    let link = people.operators_link(desk.bench.team, Some("bob@example.com")).await.unwrap();
    let token = link.split_once("?token=").unwrap().1;
    let own = people.use_link(token, input(""), &visitor).await.unwrap();
    let (own_team, _) = team_of(&own).unwrap();

    let session = desk.come_as(account("2", "bob@example.com")).await.unwrap();
    assert_eq!(session.signed_in.person(), own.signed_in.person());
    assert_eq!(team_of(&session), Some((desk.bench.team, Role::Member)));
    let me = people.me(&session.signed_in).await.unwrap();
    assert_eq!(me.teams.iter().map(|team| team.id).collect::<Vec<_>>(), [desk.bench.team]);
    let switched = people.switch_team(&session.signed_in, &session.token, own_team).await;
    assert!(matches!(switched, Err(Error::NotFound)), "{switched:?}");
    // By his password he has both.
    let by_password = people.sign_in("bob@example.com", PASSWORD, &visitor).await.unwrap();
    assert_eq!(people.me(&by_password.signed_in).await.unwrap().teams.len(), 2);

    // Somebody who was removed does not come back by the provider.
    let bob = session.signed_in.person();
    desk.bench.app.teams().remove(&desk.owner, bob).await.unwrap();
    let refused = desk.come_as(account("2", "bob@example.com")).await;
    assert_eq!(problem(refused), SsoProblem::NotAMember);
}

#[tokio::test]
async fn enforcing_takes_the_team_from_passwords_but_the_owners() {
    let desk = Desk::new().await;
    let (people, visitor) = (desk.bench.app.people(), Visitor::default());
    let enforced =
        SsoSettings { enforced: true, client_secret: None, ..settings(&["example.com"]) };
    let early = desk.put(enforced.clone()).await;
    assert!(matches!(&early, Err(Error::Invalid(issues)) if issues[0].code == "not_proven"));
    let session = desk.come_as(account("2", "bob@example.com")).await.unwrap();
    let link = people.operators_link(desk.bench.team, Some("bob@example.com")).await.unwrap();
    let token = link.split_once("?token=").unwrap().1;
    let by_password = people.use_link(token, input(""), &visitor).await.unwrap();
    assert_eq!(team_of(&by_password), Some((desk.bench.team, Role::Member)));

    desk.put(enforced).await.unwrap();
    let now = people.authenticate(&by_password.token, &visitor).await.unwrap();
    assert!(now.principal().is_none() && now.needs_sso(), "{now:?}");
    let switched = people.switch_team(&now, &by_password.token, desk.bench.team).await;
    assert!(matches!(switched, Err(Error::Forbidden(Forbidden::SsoRequired))), "{switched:?}");
    let refused = people.sign_in("bob@example.com", PASSWORD, &visitor).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::SsoRequired))), "{refused:?}");
    // The new password ended his sessions; the provider lets him in again.
    assert!(people.authenticate(&session.token, &visitor).await.is_err());
    let again = desk.come_as(account("2", "bob@example.com")).await.unwrap();
    let again = people.authenticate(&again.token, &visitor).await.unwrap();
    assert_eq!(again.principal().map(|by| by.team), Some(desk.bench.team));
    let owner = people.sign_in(OWNER, PASSWORD, &visitor).await.unwrap();
    assert_eq!(team_of(&owner), Some((desk.bench.team, Role::Owner)));
    // Whoever takes it away gives the team back.
    desk.bench.app.sso().delete(&desk.owner).await.unwrap();
    let now = people.authenticate(&by_password.token, &visitor).await.unwrap();
    assert_eq!(now.principal().map(|by| by.role), Some(Role::Member));
}

#[tokio::test]
async fn a_domain_is_one_teams() {
    let desk = Desk::new().await;
    let sso = desk.bench.app.sso();
    let other = desk.bench.app.access().create_team("Other").await.unwrap();
    let by = Principal { team: other, ..desk.owner };
    sso.put(&by, settings(&["example.com", "other.example"])).await.unwrap();
    assert!(matches!(sso.verify_domain(other, "example.com").await, Err(Error::Conflict)));
    assert!(matches!(sso.verify_domain(other, "third.example").await, Err(Error::NotFound)));
    assert!(sso.get(&by).await.unwrap().domains.iter().all(|claim| claim.verified_at.is_none()));
    sso.delete(&desk.owner).await.unwrap();
    sso.verify_domain(other, "example.com").await.unwrap();
    for role in [Role::Member, Role::Admin] {
        let by = Principal { role, ..by };
        let refused = sso.put(&by, settings(&["example.com"])).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnerRequired))));
        assert!(matches!(sso.delete(&by).await, Err(Error::Forbidden(_))));
    }
}

#[tokio::test]
async fn so_many_conversations_go_on_at_a_time_and_the_next_is_put_off() {
    let desk = Desk::new().await;
    let sso = desk.bench.app.sso();
    let gate = &desk.provider.1;
    // Each from an address of its own, which has an allowance.
    let begin = |number: u8| async move {
        let address = Some(IpAddr::from([192, 0, 2, number]));
        sso.begin("x@example.com", &Visitor { address, ..Visitor::default() }).await
    };
    gate.open.send_replace(false);
    let more = async {
        while gate.under_way.load(Ordering::SeqCst) < 32 {
            tokio::task::yield_now().await;
        }
        for number in [100, 101] {
            assert!(matches!(begin(number).await, Err(Error::TooMany { .. })));
        }
        // Setting an issuer is such a conversation, too.
        let other =
            SsoSettings { issuer: "https://other.example".to_owned(), ..settings(&["a.example"]) };
        assert!(matches!(desk.put(other).await, Err(Error::TooMany { .. })));
        gate.open.send_replace(true);
    };
    let (answers, ()) = tokio::join!(join_all((0..32).map(begin)), more);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(gate.under_way.load(Ordering::SeqCst), 0);
    begin(102).await.unwrap();
}
