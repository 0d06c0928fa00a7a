//! Mock identity providers in this process, with their store in a temporary folder.

use std::sync::Arc;

use axum::Router;
use serde_json::{Map, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use trapline_app::{App, IdpChange, MasterKey, NewIdp, NewIdpUser, Settings};
use trapline_embedded::{Durability, Embedded, Options};
use trapline_idp::TeamSession;
use trapline_model::{IdpClientType, Principal, SigningAlg};
use trapline_store::Clock;

use crate::{calls::Words, mutation::Random};

const BASE_URL: &str = "http://trapline.test";
/// What issuers begin with.
pub(crate) const ISSUER: &str = "http://trapline.test/idp/";
/// What is registered: where browsers go after a sign-in and after a sign-out, and for SAML.
pub(crate) const BACK: &str = "https://app.test/callback";
pub(crate) const OUT: &str = "https://app.test/";
pub(crate) const ACS: &str = "https://sp.test/acs";
pub(crate) const SLO: &str = "https://sp.test/slo";
/// A loopback address, before and behind its port.
pub(crate) const LOOPBACK: (&str, &str) = ("http://127.0.0.1", "/cb");

/// How the providers differ: somebody is signed in without being asked, is asked, or must be of the team.
const NAMES: [&str; 3] = ["auto", "asked", "team"];

pub(crate) struct Service {
    pub(crate) router: Router,
    words: Vec<Words>,
    _app: Arc<App>,
    _folder: TempDir,
}

impl Service {
    #[expect(clippy::expect_used, reason = "without its service, a run says nothing")]
    pub(crate) async fn start() -> Self {
        let folder = TempDir::new().expect("there is a temporary folder");
        // Nothing of a run is worth a wait for the disk.
        let stored = Options { durability: Durability::Process, ..Options::new(folder.path()) };
        let ports = Embedded::open(stored).await.expect("the store opens").ports();
        let settings = Settings { base_url: BASE_URL.to_owned(), ..Settings::default() };
        let master = MasterKey::generate().expect("there is randomness");
        let app = App::start(ports, Clock::system(), settings, &master, CancellationToken::new());
        let app = app.await.expect("the service starts");
        let team = app.access().create_team("Team").await.expect("a team");
        let team = Principal::system(team);
        let mut words = Vec::new();
        for name in NAMES {
            words.push(provider(&app, &team, name).await.expect("a provider"));
        }
        let nobody: TeamSession = Arc::new(|_, _| Box::pin(async { None }));
        let (router, _) = trapline_idp::router(app.clone(), nobody).split_for_parts();
        Self { router, words, _app: app, _folder: folder }
    }

    /// What is known of the provider of this name; of any one, where there is none.
    pub(crate) fn words(&self, name: &str, random: &mut Random) -> Words {
        let named = NAMES.iter().position(|known| *known == name);
        self.words[named.unwrap_or_else(|| random.below(NAMES.len()))].clone()
    }
}

async fn provider(app: &App, team: &Principal, name: &str) -> trapline_app::Result<Words> {
    let loopback = format!("{}:1{}", LOOPBACK.0, LOOPBACK.1);
    let new = NewIdp {
        name: name.to_owned(),
        slug: Some(format!("{name}-provider")),
        client_secret: Some("a-secret-of-forty-three-letters-and-digits1".to_owned()),
        redirect_uris: vec![BACK.to_owned(), loopback],
        ..NewIdp::default()
    };
    let idp = app.idps().create(team, new).await?;
    let user = NewIdpUser {
        email: "ada@app.test".to_owned(),
        name: "Ada <b>".to_owned(),
        groups: vec!["admins".to_owned()],
        claims: Map::from_iter([("plan".to_owned(), json!("pro"))]),
        subject: None,
    };
    let user = app.idps().add_user(team, idp.id, user).await?;
    let change = IdpChange {
        post_logout_redirect_uris: Some(vec![OUT.to_owned()]),
        auto_login_user: Some((name == "auto").then_some(user.id)),
        require_team_session: Some(name == "team"),
        saml_acs_url: Some((name == "auto").then(|| ACS.to_owned())),
        saml_sp_entity_id: Some(Some("https://sp.test".to_owned())),
        saml_slo_url: Some((name == "auto").then(|| SLO.to_owned())),
        client_type: (name == "team").then_some(IdpClientType::Public),
        signing_alg: Some(SigningAlg::ES256),
        ..IdpChange::default()
    };
    let idp = app.idps().update(team, idp.id, change).await?;
    let mut words = Words::default();
    let id = user.id.to_string();
    for (name, value) in [
        ("slug", idp.slug.as_str()),
        ("client", &idp.client_id),
        ("user", &id),
        ("back", BACK),
        ("acs", ACS),
    ] {
        words.set(name, value);
    }
    words.set("secret", "a-secret-of-forty-three-letters-and-digits1");
    Ok(words)
}
