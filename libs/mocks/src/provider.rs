//! What a provider is: a table of facts, and functions for what it does.

use trapline_model::MockCategory;

use crate::{
    MockReply, Snippet,
    auth::Check,
    context::CallContext,
    credentials::Credential,
    failure::{CallFailure, Halt},
    handshake::Handshake,
    providers::simulation,
    sign::SigningScheme,
};

/// A way in which a call that moves money, sends, checks or signs is declined.
#[derive(Debug)]
pub struct Decline {
    /// The provider's code.
    pub code: &'static str,
    /// Values in a request that bring it about.
    pub triggers: &'static [&'static str],
    /// What it tells people.
    pub message: &'static str,
}

impl Decline {
    /// A decline of a provider's table.
    pub(crate) const fn new(
        code: &'static str,
        triggers: &'static [&'static str],
        message: &'static str,
    ) -> Self {
        Self { code, triggers, message }
    }
}

/// A kind of object that a mock keeps.
#[derive(Debug)]
pub struct ObjectKind {
    /// As the API calls it.
    pub name: &'static str,
    /// Letters with which its ids begin; empty where they have none.
    pub prefix: &'static str,
    /// Letters behind the prefix, of base62.
    pub letters: usize,
}

/// A setting that only one provider has.
#[derive(Debug)]
pub struct OwnSetting {
    /// As the API calls it.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The value while nobody sets one.
    pub default: &'static str,
}

/// A package that speaks to the provider.
#[derive(Debug)]
pub struct Sdk {
    /// `python` or `node`.
    pub language: &'static str,
    /// As its registry calls it.
    pub package: &'static str,
    /// The version that is tested.
    pub version: &'static str,
}

/// What repeats a call that carries a key.
#[derive(Debug)]
pub(crate) enum Idempotency {
    /// The provider knows no keys.
    None,
    /// The first answer comes again, for a key in this header (in lower case) of at most 255 bytes.
    Replay {
        /// The header.
        header: &'static str,
        /// The header that marks an answer that comes again; empty for none.
        mark: &'static str,
    },
}

/// A handler.
pub(crate) type Handler = fn(&mut CallContext<'_>) -> Result<MockReply, Halt>;

/// A method, a path whose `{names}` are parameters, and who answers.
pub(crate) struct MockRoute(pub(crate) &'static str, pub(crate) &'static str, pub(crate) Handler);

/// What a provider sends.
pub struct Hooks {
    /// The names of its events.
    pub events: &'static [&'static str],
    /// How requests are signed.
    pub scheme: SigningScheme,
    /// The kind of objects that are addresses which the app registered through the provider's API.
    pub endpoints: Option<&'static str>,
    /// The only status by which an app says that it has received something; none where any from 200 to 299 does.
    pub expects: Option<u16>,
    /// What is asked of an address when it is set.
    pub handshake: Option<Handshake>,
}

/// A provider of an API.
pub struct Provider {
    /// As the API calls it.
    pub id: &'static str,
    /// As people call it.
    pub name: &'static str,
    /// What it is for.
    pub category: MockCategory,
    /// The first is the main one.
    pub credentials: &'static [Credential],
    /// A call needs every check of one of these lists.
    pub(crate) auth: &'static [&'static [Check]],
    /// How real secrets begin.
    pub live: &'static [&'static str],
    /// Settings beside those that all providers have.
    pub own_settings: &'static [OwnSetting],
    /// How calls are declined.
    pub declines: &'static [Decline],
    /// What is kept.
    pub kinds: &'static [ObjectKind],
    /// The kinds of which objects only come, and are read by no call.
    pub logs: &'static [&'static str],
    /// What repeats a call.
    pub(crate) idempotency: Idempotency,
    /// The longest body of a request, in bytes.
    pub max_body: usize,
    /// What is answered.
    pub(crate) routes: &'static [MockRoute],
    /// What is sent.
    pub hooks: Hooks,
    /// How an SDK is pointed at a mock.
    pub snippets: &'static [Snippet],
    /// Which SDKs that is shown for.
    pub sdks: &'static [Sdk],
    /// In what a mock is known to differ from the provider.
    pub divergences: &'static [&'static str],
    /// Says a failure in the provider's own words.
    pub(crate) error: fn(&CallFailure, &CallContext<'_>) -> MockReply,
    /// Adds what every reply of the provider has.
    pub(crate) finish: fn(&mut MockReply, &CallContext<'_>),
}

impl Provider {
    /// Method and path of each route.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.routes.iter().map(|MockRoute(method, path, _)| (*method, *path))
    }

    /// How its objects go on without a call: kind, state, and the state after it. Of the steps from one state the first
    /// is the usual one.
    pub fn steps(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let flows = simulation(self).map_or(&[][..], |simulation| simulation.flows);
        flows.iter().flat_map(|flow| flow.steps.iter().map(|step| (flow.kind, step.from, step.to)))
    }

    /// The events that come from outside.
    pub fn triggers(&self) -> impl Iterator<Item = &'static str> {
        let triggers = simulation(self).map_or(&[][..], |simulation| simulation.triggers);
        triggers.iter().map(|trigger| trigger.event)
    }

    /// The decline of this code.
    #[must_use]
    pub fn decline(&self, code: &str) -> Option<&'static Decline> {
        self.declines.iter().find(|decline| decline.code == code)
    }

    /// The kind of this name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<&'static ObjectKind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }
}
