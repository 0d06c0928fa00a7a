//! The settings of a mock: what goes wrong, and how fast.

mod bounds;

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use trapline_model::Time;

use crate::Provider;

/// Milliseconds between the steps of a flow, unless somebody sets another pace.
const DEFAULT_PACE_MS: u64 = 200;

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingIssue {
    /// Its path below `settings`.
    pub path: String,
    /// What is wrong, with what is there instead.
    pub message: String,
}

/// How long an answer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LatencySetting {
    /// So many milliseconds.
    Fixed(u64),
    /// Any time from `min` to `max` milliseconds.
    Between {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
}

/// A failure that a mock is told to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// An internal error of the provider.
    Server,
    /// The provider is away.
    Unavailable,
    /// Too many calls.
    RateLimit,
    /// The credentials are refused.
    Unauthorized,
    /// No answer within 60 seconds.
    Timeout,
    /// The connection ends without an answer.
    Reset,
    /// Half of the answer.
    Malformed,
}

/// What one of the next calls meets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NextCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<ErrorKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decline: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    /// How many calls meet it; one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u32>,
    /// Only calls with this method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    /// Only calls of this path, in which `*` is any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CallRate {
    pub(crate) per_minute: u32,
}

/// When failed deliveries are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RetryPace {
    /// As webhooks of the service are.
    Standard,
    /// After 1, 2, 5, 10 and 30 seconds.
    Fast,
    /// Never.
    Off,
}

/// What becomes of the webhooks of a mock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WebhookSettings {
    /// Whether any is sent.
    pub enabled: bool,
    /// The only events that are sent; empty for all.
    pub events: Vec<String>,
    /// Milliseconds before the first attempt.
    pub delay_ms: u64,
    /// At most so many milliseconds more, by chance.
    pub jitter_ms: u64,
    /// How often each is sent again.
    pub duplicate: u32,
    /// Whether those of one call are sent last first.
    pub out_of_order: bool,
    /// The share that is never sent.
    pub drop_rate: f64,
    /// Whether signatures are wrong.
    pub bad_signature: bool,
    /// How many seconds old signatures are.
    pub stale_by_seconds: u64,
    /// When failed ones are tried again.
    pub retry: RetryPace,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            events: Vec::new(),
            delay_ms: 0,
            jitter_ms: 0,
            duplicate: 0,
            out_of_order: false,
            drop_rate: 0.0,
            bad_signature: false,
            stale_by_seconds: 0,
            retry: RetryPace::Standard,
        }
    }
}

/// How objects go on after the call that made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowPace {
    /// All steps in the call itself.
    Instant,
    /// A step after another, with a pause before each.
    Timed,
    /// When a person or a test says so.
    Manual,
}

/// What a mock believes the time to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MockClock {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Time>,
    #[serde(default, skip_serializing_if = "is_off")]
    frozen: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset_seconds: Option<i32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_off(flag: &bool) -> bool {
    !flag
}

/// Every setting of a mock, those that nobody set at their defaults.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MockSettings {
    /// How long answers take.
    pub latency_ms: LatencySetting,
    /// The share of calls that fail.
    pub error_rate: f64,
    /// How these fail.
    pub error_kind: ErrorKind,
    pub(crate) next: Vec<NextCall>,
    pub(crate) rate_limit: Option<CallRate>,
    /// The code by which every call that can be is declined.
    pub decline: Option<String>,
    /// How objects go on; each kind has a way of its own while nobody sets one.
    pub pace: Option<FlowPace>,
    /// Milliseconds before each step of a timed flow.
    pub pace_ms: u64,
    /// Whether refusals of the provider hold that get in the way of tests.
    pub strict: bool,
    /// What becomes of webhooks.
    pub webhooks: WebhookSettings,
    pub(crate) clock: Option<MockClock>,
    /// Makes ids and rolls repeatable.
    pub seed: Option<u64>,
    #[serde(flatten)]
    pub(crate) own: BTreeMap<&'static str, String>,
}

/// The names of settings that every provider has.
const COMMON: [&str; 12] = [
    "latencyMs",
    "errorRate",
    "errorKind",
    "next",
    "rateLimit",
    "decline",
    "pace",
    "paceMs",
    "strict",
    "webhooks",
    "clock",
    "seed",
];

/// Changes a document by another one (RFC 7396): keys with `null` go.
pub fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(object) = target.as_object_mut() else { return };
    for (key, value) in patch {
        if value.is_null() {
            object.remove(key);
        } else {
            merge(object.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

impl MockSettings {
    /// Reads what was set; what was not has its default.
    ///
    /// # Errors
    ///
    /// Every setting that the provider does not have, or that is of another type or out of its bounds.
    pub fn of(provider: &Provider, set: &Value) -> Result<Self, Vec<SettingIssue>> {
        let empty = Map::new();
        let mut reader = Reader { set: set.as_object().unwrap_or(&empty), issues: Vec::new() };
        reader.check_names(provider);
        let own = provider.own_settings.iter().map(|own| {
            let value = reader.read::<String>(own.name).unwrap_or_else(|| own.default.to_owned());
            (own.name, value)
        });
        let own: BTreeMap<_, _> = own.collect();
        let settings = Self {
            latency_ms: reader.read("latencyMs").unwrap_or(LatencySetting::Fixed(0)),
            error_rate: reader.read("errorRate").unwrap_or(0.0),
            error_kind: reader.read("errorKind").unwrap_or(ErrorKind::Server),
            next: reader.read("next").unwrap_or_default(),
            rate_limit: reader.read("rateLimit"),
            decline: reader.read("decline"),
            pace: reader.read("pace"),
            pace_ms: reader.read("paceMs").unwrap_or(DEFAULT_PACE_MS),
            strict: reader.read("strict").unwrap_or(false),
            webhooks: reader.read("webhooks").unwrap_or_default(),
            clock: reader.read("clock"),
            seed: reader.read("seed"),
            own,
        };
        settings.check_bounds(provider, &mut reader.issues);
        if reader.issues.is_empty() { Ok(settings) } else { Err(reader.issues) }
    }

    /// The time as the mock has it; `set_at` is when the settings were last changed.
    pub(crate) fn time(&self, now: Time, set_at: Time) -> Time {
        match self.clock {
            None => now,
            Some(MockClock { at: Some(at), frozen: true, .. }) => at,
            Some(MockClock { at: Some(at), .. }) => at.after(now.since(set_at)),
            Some(MockClock { offset_seconds, .. }) => {
                let offset = offset_seconds.unwrap_or(0);
                let by = Duration::from_secs(offset.unsigned_abs().into());
                if offset < 0 { now.before(by) } else { now.after(by) }
            }
        }
    }

    /// A setting of the provider's own.
    pub(crate) fn own(&self, name: &str) -> &str {
        self.own.get(name).map(String::as_str).unwrap_or_default()
    }
}

impl NextCall {
    pub(crate) fn times(&self) -> u32 {
        self.times.unwrap_or(1)
    }
}

struct Reader<'a> {
    set: &'a Map<String, Value>,
    issues: Vec<SettingIssue>,
}

impl Reader<'_> {
    fn check_names(&mut self, provider: &Provider) {
        let own = provider.own_settings.iter().map(|own| own.name);
        let known: Vec<_> = COMMON.into_iter().chain(own).collect();
        for name in self.set.keys().filter(|name| !known.contains(&name.as_str())) {
            let message = format!("the settings of {} are {}", provider.name, known.join(", "));
            self.issues.push(SettingIssue { path: name.clone(), message });
        }
    }

    fn read<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.set.get(name)?;
        T::deserialize(value)
            .map_err(|error| {
                let (path, message) = (name.to_owned(), error.to_string());
                self.issues.push(SettingIssue { path, message });
            })
            .ok()
    }
}

#[cfg(test)]
mod tests;
