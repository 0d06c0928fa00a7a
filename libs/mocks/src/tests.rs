#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod airtable;
mod billing;
mod docs;
mod docusign;
mod engine;
mod flows;
mod hubspot;
mod hubspot_associations;
mod invoices;
mod onfido;
mod plaid;
mod segment;
mod stripe;
mod tables;
mod twilio;
mod twilio_calls;
mod xero;

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap, HashSet},
};

use data_encoding::BASE64;
use serde_json::{Value, json};
use trapline_model::Time;

use crate::{
    ActionDone, ActionOutcome, ActionRefusal, CallAnswer, CallOutcome, CalledMock, Chance,
    HostedPages, Loaded, MockAction, MockCall, MockSettings, Outgoing, OutgoingEvent, Provider,
    StoredObject, Want, Write, WriteLife, act,
    auth::{Check, CredentialPlace},
    run,
};

/// Where its pages are.
pub(super) const PAGES: HostedPages<'_> =
    HostedPages { base_url: "http://mocks.test/mock/0123456789abcd", key: "key of pages" };

/// A mock in memory.
pub(super) struct World {
    pub(super) provider: &'static Provider,
    pub(super) credentials: BTreeMap<String, String>,
    pub(super) set: Value,
    pub(super) rows: HashMap<(String, String), String>,
    pub(super) allowance: Result<(), u64>,
    /// Rows that the last call read by their ids, and may thus write.
    read: HashSet<(String, String)>,
    /// Objects that the last call read as a list.
    listed: Cell<usize>,
    calls: u8,
}

impl World {
    pub(super) fn of(id: &str) -> Self {
        let provider = crate::find(id).unwrap();
        let chance = Chance::new([7; 32]);
        Self {
            provider,
            credentials: provider.new_credentials("0123456789abcd", &chance, Time::from_millis(0)),
            set: json!({}),
            rows: HashMap::new(),
            allowance: Ok(()),
            read: HashSet::new(),
            listed: Cell::new(0),
            calls: 0,
        }
    }

    pub(super) fn with(id: &str, set: Value) -> Self {
        Self { set, ..Self::of(id) }
    }

    /// Answers a call, and keeps what it wrote.
    pub(super) fn call(&mut self, call: &MockCall) -> CallAnswer {
        let answer = self.with_mock(|mock, loaded, chance| match run(mock, call, loaded, chance) {
            CallOutcome::Done(answer) => Ok(*answer),
            CallOutcome::Need(wants) => Err(wants),
        });
        self.keep(&answer.writes);
        answer
    }

    /// Does what happens without a call, and keeps what it wrote.
    pub(super) fn act(&mut self, action: MockAction<'_>) -> Result<ActionDone, ActionRefusal> {
        let done =
            self.with_mock(|mock, loaded, chance| match act(mock, action, loaded, chance) {
                ActionOutcome::Done(done) => Ok(Ok(*done)),
                ActionOutcome::Refused(refusal) => Ok(Err(refusal)),
                ActionOutcome::Need(wants) => Err(wants),
            })?;
        self.keep(&done.writes);
        Ok(done)
    }

    /// Takes the steps that are due, those too that follow from them.
    pub(super) fn go_on(&mut self) {
        loop {
            let due = self.out().steps;
            if due.is_empty() {
                return;
            }
            for step in due {
                self.act(MockAction::Step(&step)).unwrap();
            }
        }
    }

    /// Runs something, with the rows that it asks for.
    fn with_mock<T>(
        &mut self,
        run: impl Fn(&CalledMock<'_>, &Loaded, &Chance) -> Result<T, Vec<Want>>,
    ) -> T {
        let settings = MockSettings::of(self.provider, &self.set).unwrap();
        self.calls += 1;
        let call_id = format!("call{:022}", self.calls);
        let mock = CalledMock {
            provider: self.provider,
            credentials: &self.credentials,
            settings: &settings,
            settings_at: Time::from_millis(0),
            revision: 1,
            webhook_url: Some("http://app.test/hooks"),
            base_url: "http://mocks.test/mock/0123456789abcd",
            pages: PAGES,
            call_id: &call_id,
            now: Time::from_millis(1_800_000_000_000 + i64::from(self.calls)),
        };
        let chance = Chance::new([self.calls; 32]);
        let mut loaded = Loaded::default();
        self.listed.set(0);
        for _ in 0..8 {
            match run(&mock, &loaded, &chance) {
                Ok(done) => {
                    self.read = loaded.rows.into_keys().collect();
                    return done;
                }
                Err(wants) => {
                    for want in &wants {
                        self.load(want, &mut loaded);
                    }
                }
            }
        }
        panic!("it asks for more and more");
    }

    fn load(&self, want: &Want, loaded: &mut Loaded) {
        match want {
            Want::Row { kind, id } => {
                let key = (kind.clone(), id.clone());
                loaded.rows.insert(key.clone(), self.rows.get(&key).cloned());
            }
            Want::Kind { kind, most } => {
                let objects: Vec<_> = self.objects(kind).into_iter().take(*most).collect();
                self.listed.set(self.listed.get() + objects.len());
                loaded.kinds.insert((kind.clone(), *most), objects);
            }
            Want::Allowance { .. } => loaded.allowance = Some(self.allowance),
        }
    }

    fn keep(&mut self, writes: &[Write]) {
        for write in writes {
            let key = (write.kind.clone(), write.id.clone());
            // A store writes a row at the version that was read, and lists have none.
            let is_known = self.read.contains(&key) || !self.rows.contains_key(&key);
            assert!(
                is_known || matches!(write.life, WriteLife::Log { .. }),
                "{key:?} was not read"
            );
            match &write.doc {
                Some(doc) => self.rows.insert(key, crate::unpacked(doc).into_owned()),
                None => self.rows.remove(&key),
            };
        }
    }

    /// The objects of a kind, newest first.
    pub(super) fn objects(&self, kind: &str) -> Vec<StoredObject> {
        let of_kind = self.rows.iter().filter(|((found, _), _)| found == kind);
        let mut objects: Vec<StoredObject> =
            of_kind.map(|(_, doc)| serde_json::from_str(doc).unwrap()).collect();
        objects.sort_by(|one, other| other.id.cmp(&one.id));
        objects
    }

    /// What follows from the last call.
    pub(super) fn out(&self) -> Outgoing {
        let key = ("~out".to_owned(), format!("call{:022}", self.calls));
        self.rows.get(&key).map(|doc| serde_json::from_str(doc).unwrap()).unwrap_or_default()
    }

    /// What the last call sends.
    pub(super) fn sent(&self) -> Vec<OutgoingEvent> {
        self.out().events
    }

    pub(super) fn events(&self) -> Vec<String> {
        self.sent().into_iter().map(|event| event.event).collect()
    }

    /// A call with the main credential, and its answer as JSON.
    pub(super) fn ask(&mut self, method: &str, path: &str, form: &str) -> (u16, Value) {
        let call = self.request(method, path, form);
        let reply = self.call(&call).reply;
        (reply.status, serde_json::from_str(&reply.body).unwrap_or_default())
    }

    /// The same with a JSON body; null is none.
    pub(super) fn ask_json(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut call = self.request(method, path, &text);
        call.headers[0].1 = "application/json".to_owned();
        let reply = self.call(&call).reply;
        (reply.status, serde_json::from_str(&reply.body).unwrap_or_default())
    }

    /// What the first list of the provider's checks asks for, each with its header.
    fn authorization(&self) -> Vec<(String, String)> {
        let (mut basic, mut headers) = ([String::new(), String::new()], Vec::new());
        for Check { place, is } in self.provider.auth[0] {
            let value = self.credentials[*is].clone();
            let (name, value) = match place {
                CredentialPlace::Bearer => ("authorization", format!("Bearer {value}")),
                CredentialPlace::Prefixed(word) => ("authorization", format!("{word}{value}")),
                CredentialPlace::Header(name) => (*name, value),
                CredentialPlace::BasicUser => {
                    basic[0] = value;
                    continue;
                }
                CredentialPlace::BasicPassword => {
                    basic[1] = value;
                    continue;
                }
                CredentialPlace::BearerAt(_)
                | CredentialPlace::Client(_)
                | CredentialPlace::ClientSecret
                | CredentialPlace::Issuer(_)
                | CredentialPlace::Field(_) => continue,
            };
            headers.push((name.to_owned(), value));
        }
        if !basic[0].is_empty() {
            let value = format!("Basic {}", BASE64.encode(basic.join(":").as_bytes()));
            headers.push(("authorization".to_owned(), value));
        }
        headers
    }

    pub(super) fn request(&self, method: &str, path: &str, form: &str) -> MockCall {
        let kind = ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned());
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        MockCall {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: [vec![kind], self.authorization()].concat(),
            body: form.as_bytes().to_vec(),
            is_cut: false,
        }
    }
}
