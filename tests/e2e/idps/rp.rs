//! An application that signs people in at a provider, as far as a test has to play one.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use trapline_tests::{Answer, Deployment, Rest};

use super::path_of;

/// The code verifier of every sign-in (RFC 7636).
pub(super) const VERIFIER: &str = "a-verifier-of-some-forty-three-letters-or-more";
pub(super) const CALLBACK: &str = "https://app.example/callback";

/// A provider, a user of it, and a client of each process in turn.
pub(super) struct Rp {
    clients: Vec<Rest>,
    keyed: Rest,
    turn: AtomicUsize,
    pub(super) idp: Value,
    pub(super) user: Value,
}

impl Rp {
    /// With a provider that signs its only user in without asking.
    pub(super) async fn new(server: &Deployment) -> Self {
        let rp = Self::asking(server).await;
        let auto = json!({ "autoLoginUserId": rp.user["id"] });
        rp.set(auto).await;
        rp
    }

    /// With a provider that asks.
    pub(super) async fn asking(server: &Deployment) -> Self {
        Self::of(server, server.rest()).await
    }

    /// The same, of the team whose key this is.
    pub(super) async fn of(server: &Deployment, keyed: Rest) -> Self {
        let idp = super::provider(&keyed, CALLBACK).await;
        let user = json!({
            "email": "ada@example.com", "name": "Ada", "groups": ["ops"], "claims": { "plan": "pro" }
        });
        let user = keyed.post(&format!("{}/users", path_of(&idp)), user).await.expect(201).json();
        let clients = server.api().iter().map(|api| Rest::new(api, None)).collect();
        Self { clients, keyed, turn: AtomicUsize::new(0), idp, user }
    }

    /// With a provider that is there already, and its user.
    pub(super) fn known(server: &Deployment, idp: Value, user: Value) -> Self {
        let clients = server.api().iter().map(|api| Rest::new(api, None)).collect();
        Self { clients, keyed: server.rest(), turn: AtomicUsize::new(0), idp, user }
    }

    /// The same after a restart, when the processes have other addresses.
    pub(super) fn again(self, server: &Deployment) -> Self {
        Self::known(server, self.idp, self.user)
    }

    /// Every step is at the process that the issuer names from now on: without one base URL for all, each
    /// names itself.
    pub(super) fn at_issuer(self) -> Self {
        let issuer = self.idp["issuer"].as_str().unwrap();
        let home = issuer.split("/idp/").next().unwrap();
        Self { clients: vec![Rest::new(home, None)], ..self }
    }

    pub(super) async fn set(&self, change: Value) -> Value {
        self.keyed.patch(&path_of(&self.idp), change).await.expect(200).json()
    }

    /// The log, newest first.
    pub(super) async fn log(&self) -> Vec<Value> {
        let log =
            self.keyed.get(&format!("{}/events", path_of(&self.idp))).await.expect(200).json();
        log.as_array().unwrap().clone()
    }

    pub(super) fn keyed(&self) -> &Rest {
        &self.keyed
    }

    /// The next process, so that each step of a sign-in is at another one.
    pub(super) fn rest(&self) -> &Rest {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        &self.clients[turn % self.clients.len()]
    }

    pub(super) fn path(&self, name: &str) -> String {
        format!("/idp/{}/{name}", self.idp["slug"].as_str().unwrap())
    }

    pub(super) fn secret(&self) -> (&str, &str) {
        let text = |name: &str| self.idp[name].as_str().unwrap();
        (text("clientId"), text("clientSecret"))
    }

    /// The parameters of a good request, with others in place of them; an empty one is left out.
    pub(super) fn query(&self, others: &[(&str, &str)]) -> Vec<(String, String)> {
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(VERIFIER));
        let mut all: HashMap<&str, String> = HashMap::from([
            ("client_id", self.secret().0.to_owned()),
            ("redirect_uri", CALLBACK.to_owned()),
            ("response_type", "code".to_owned()),
            ("scope", "openid profile email offline_access".to_owned()),
            ("state", "a state".to_owned()),
            ("nonce", "a nonce".to_owned()),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256".to_owned()),
        ]);
        all.extend(others.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let all = all.into_iter().filter(|(_, value)| !value.is_empty());
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    pub(super) async fn authorize(&self, others: &[(&str, &str)]) -> Answer {
        let path = self.path("authorize");
        Answer::to(self.rest().request("GET", &path).query(&self.query(others))).await
    }

    /// What the application is told by the redirect.
    pub(super) async fn told(&self, others: &[(&str, &str)]) -> HashMap<String, String> {
        told(&self.authorize(others).await.expect(303))
    }

    pub(super) async fn code(&self) -> String {
        self.told(&[]).await["code"].clone()
    }

    pub(super) async fn token(&self, form: &[(&str, &str)]) -> Answer {
        let (id, secret) = self.secret();
        let path = self.path("token");
        let request = self.rest().request("POST", &path).basic_auth(id, Some(secret));
        Answer::to(request.form(form)).await
    }

    pub(super) async fn redeem(&self, code: &str) -> Answer {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
        ];
        self.token(&form).await
    }

    pub(super) async fn refresh(&self, token: &str) -> Answer {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token)]).await
    }

    pub(super) async fn tokens(&self) -> Value {
        self.redeem(&self.code().await).await.expect(200).json()
    }

    pub(super) async fn userinfo(&self, tokens: &Value) -> Answer {
        let token = tokens["access_token"].as_str().unwrap();
        let path = self.path("userinfo");
        Answer::to(self.rest().request("GET", &path).bearer_auth(token)).await
    }

    pub(super) async fn form(&self, name: &str, form: &[(&str, &str)]) -> Answer {
        let path = self.path(name);
        Answer::to(self.rest().request("POST", &path).form(form)).await
    }
}

/// The parameters that a redirect has.
pub(super) fn told(answer: &Answer) -> HashMap<String, String> {
    let location = answer.header("location");
    let query = location.split_once(['?', '#']).unwrap_or_else(|| panic!("{answer}")).1;
    let url = reqwest::Url::parse(&format!("http://app.example/?{query}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// The claims of a token, whoever signed it.
pub(super) fn claims(token: &Value) -> Value {
    let part = token.as_str().unwrap().split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64URL_NOPAD.decode(part.as_bytes()).unwrap()).unwrap()
}

/// What the log shows of a secret.
pub(super) fn mark(secret: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(secret)[..4])
}
