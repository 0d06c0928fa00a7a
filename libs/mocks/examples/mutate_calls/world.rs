//! Mocks in memory, as the service keeps them in its store.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use trapline_mocks::{
    ALL, ActionOutcome, CallAnswer, CallOutcome, CalledMock, Chance, DueStep, HostedPages, Loaded,
    MockAction, MockCall, MockSettings, Outgoing, Provider, StoredObject, Want, Write, act, run,
};
use trapline_model::Time;

use crate::{calls::Words, mutation::Random};

/// How often a run may ask for more rows, as the service has it.
const MAX_ROUNDS: usize = 8;
const BASE_URL: &str = "http://mocks.test/mock/0123456789abcd";

/// What mocks begin with, made once: keys take their time.
pub(crate) struct Worlds(Vec<World>);

/// A mock, and what it keeps.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) provider: &'static Provider,
    pub(crate) credentials: BTreeMap<String, String>,
    settings: MockSettings,
    rows: HashMap<(String, String), String>,
    /// The credentials, and members of replies.
    pub(crate) words: Words,
    calls: u32,
}

impl Worlds {
    pub(crate) fn new() -> Self {
        Self(ALL.into_iter().map(World::of).collect())
    }

    /// A fresh mock of the provider with this id; of any one, where there is none.
    pub(crate) fn of(&self, id: &str, random: &mut Random) -> World {
        let named = self.0.iter().find(|world| world.provider.id == id);
        named.unwrap_or_else(|| random.pick(&self.0)).clone()
    }
}

impl World {
    #[expect(clippy::expect_used, reason = "without its mocks, a run says nothing")]
    fn of(provider: &'static Provider) -> Self {
        let chance = Chance::new([7; 32]);
        let credentials = provider.new_credentials("0123456789abcd", &chance, Time::from_millis(0));
        let mut words = Words::default();
        for (name, value) in &credentials {
            words.set(name, value);
        }
        Self {
            provider,
            credentials,
            settings: MockSettings::of(provider, &json!({})).expect("the defaults are settings"),
            rows: HashMap::new(),
            words,
            calls: 0,
        }
    }

    /// Answers a call. A second run on the same rows comes to the same.
    pub(crate) fn call(&mut self, call: &MockCall) -> CallAnswer {
        self.calls += 1;
        let answer = |mock: &CalledMock<'_>, loaded: &Loaded, chance: &Chance| match run(
            mock, call, loaded, chance,
        ) {
            CallOutcome::Done(answer) => Ok(*answer),
            CallOutcome::Need(wants) => Err(wants),
        };
        let (first, second) = (self.with_mock(answer), self.with_mock(answer));
        assert_eq!((&first.reply, &first.writes), (&second.reply, &second.writes));
        first
    }

    /// Takes a step, and says what it writes.
    pub(crate) fn step(&mut self, step: &DueStep) -> Vec<Write> {
        self.calls += 1;
        self.with_mock(|mock, loaded, chance| {
            match act(mock, MockAction::Step(step), loaded, chance) {
                ActionOutcome::Done(done) => Ok(done.writes),
                ActionOutcome::Refused(_) => Ok(Vec::new()),
                ActionOutcome::Need(wants) => Err(wants),
            }
        })
    }

    /// What follows from the last call.
    pub(crate) fn out(&self) -> Option<Outgoing> {
        let doc = self.rows.get(&("~out".to_owned(), self.call_id()))?;
        serde_json::from_str(doc).ok()
    }

    pub(crate) fn keep(&mut self, writes: &[Write]) {
        for write in writes {
            let key = (write.kind.clone(), write.id.clone());
            match &write.doc {
                Some(doc) => drop(self.rows.insert(key, doc.clone())),
                None => drop(self.rows.remove(&key)),
            }
        }
    }

    fn call_id(&self) -> String {
        format!("call{:022}", self.calls)
    }

    /// Runs something, with the rows that it asks for.
    fn with_mock<T>(
        &self,
        run: impl Fn(&CalledMock<'_>, &Loaded, &Chance) -> Result<T, Vec<Want>>,
    ) -> T {
        let mock = CalledMock {
            provider: self.provider,
            credentials: &self.credentials,
            settings: &self.settings,
            settings_at: Time::from_millis(0),
            revision: 1,
            webhook_url: Some("http://app.test/hooks"),
            base_url: BASE_URL,
            pages: HostedPages { base_url: BASE_URL, key: "key of pages" },
            call_id: &self.call_id(),
            now: Time::from_millis(1_800_000_000_000 + i64::from(self.calls)),
        };
        let mut seed = [7; 32];
        seed[..4].copy_from_slice(&self.calls.to_be_bytes());
        let (chance, mut loaded) = (Chance::new(seed), Loaded::default());
        for _ in 0..MAX_ROUNDS {
            match run(&mock, &loaded, &chance) {
                Ok(done) => return done,
                Err(wants) => wants.into_iter().for_each(|want| self.load(want, &mut loaded)),
            }
        }
        panic!("it asks for more and more");
    }

    fn load(&self, want: Want, loaded: &mut Loaded) {
        match want {
            Want::Row { kind, id } => {
                let key = (kind, id);
                let row = self.rows.get(&key).cloned();
                loaded.rows.insert(key, row);
            }
            Want::Kind { kind, most } => {
                let objects = self.objects(&kind).into_iter().take(most).collect();
                loaded.kinds.insert((kind, most), objects);
            }
            Want::Allowance { .. } => loaded.allowance = Some(Ok(())),
        }
    }

    /// The objects of a kind, newest first.
    fn objects(&self, kind: &str) -> Vec<StoredObject> {
        let of_kind = self.rows.iter().filter(|((found, _), _)| found == kind);
        let mut objects: Vec<StoredObject> =
            of_kind.filter_map(|(_, doc)| serde_json::from_str(doc).ok()).collect();
        objects.sort_by(|one, other| other.id.cmp(&one.id));
        objects
    }
}
