//! The settings of a mock: what goes wrong, and how fast.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use trapline_model::Time;

use crate::Provider;

const MAX_LATENCY_MS: u64 = 30_000;
const MAX_NEXT: usize = 100;
const MAX_TIMES: u32 = 10_000;
const MAX_PATH: usize = 200;
const MAX_RATE: u32 = 1_000_000;
const MAX_DUPLICATES: u32 = 5;
const MAX_WEBHOOK_DELAY_MS: u64 = 3_600_000;
const MAX_STALE_SECONDS: u64 = 31_536_000;
const MAX_OWN_LETTERS: usize = 200;

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
    /// What becomes of webhooks.
    pub webhooks: WebhookSettings,
    pub(crate) clock: Option<MockClock>,
    /// Makes ids and rolls repeatable.
    pub seed: Option<u64>,
    #[serde(flatten)]
    pub(crate) own: BTreeMap<&'static str, String>,
}

/// The names of settings that every provider has.
const COMMON: [&str; 9] = [
    "latencyMs",
    "errorRate",
    "errorKind",
    "next",
    "rateLimit",
    "decline",
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
            webhooks: reader.read("webhooks").unwrap_or_default(),
            clock: reader.read("clock"),
            seed: reader.read("seed"),
            own,
        };
        settings.check_bounds(provider, &mut reader.issues);
        if reader.issues.is_empty() { Ok(settings) } else { Err(reader.issues) }
    }

    fn check_bounds(&self, provider: &Provider, issues: &mut Vec<SettingIssue>) {
        let mut check = |path: &str, is_well: bool, message: String| {
            if !is_well {
                issues.push(SettingIssue { path: path.to_owned(), message });
            }
        };
        let (min, max) = match self.latency_ms {
            LatencySetting::Fixed(time) => (time, time),
            LatencySetting::Between { min, max } => (min, max),
        };
        let bound = format!("must be from 0 to {MAX_LATENCY_MS}, and min at most max");
        check("latencyMs", min <= max && max <= MAX_LATENCY_MS, bound);
        let share = || "must be from 0 to 1".to_owned();
        check("errorRate", (0.0..=1.0).contains(&self.error_rate), share());
        check("webhooks.dropRate", (0.0..=1.0).contains(&self.webhooks.drop_rate), share());
        let rate = self.rate_limit.is_none_or(|rate| (1..=MAX_RATE).contains(&rate.per_minute));
        check("rateLimit.perMinute", rate, format!("must be from 1 to {MAX_RATE}"));
        check("next", self.next.len() <= MAX_NEXT, format!("must have at most {MAX_NEXT} entries"));
        for (place, next) in self.next.iter().enumerate() {
            let problem = next.problem(provider);
            check(&format!("next.{place}"), problem.is_none(), problem.unwrap_or_default());
        }
        let decline = self.decline.as_deref().is_none_or(|code| provider.decline(code).is_some());
        check("decline", decline, codes(provider));
        let webhooks = &self.webhooks;
        let duplicates = format!("must be at most {MAX_DUPLICATES}");
        check("webhooks.duplicate", webhooks.duplicate <= MAX_DUPLICATES, duplicates);
        let delay = format!("must be at most {MAX_WEBHOOK_DELAY_MS}");
        check("webhooks.delayMs", webhooks.delay_ms <= MAX_WEBHOOK_DELAY_MS, delay.clone());
        check("webhooks.jitterMs", webhooks.jitter_ms <= MAX_WEBHOOK_DELAY_MS, delay);
        let stale = format!("must be at most {MAX_STALE_SECONDS}");
        check("webhooks.staleBySeconds", webhooks.stale_by_seconds <= MAX_STALE_SECONDS, stale);
        let events = provider.hooks.events;
        let known = webhooks.events.iter().all(|event| events.contains(&event.as_str()));
        check("webhooks.events", known, format!("the events are {}", events.join(", ")));
        let clock =
            self.clock.is_none_or(|clock| clock.at.is_some() != clock.offset_seconds.is_some());
        check("clock", clock, "needs either at or offsetSeconds".to_owned());
        for (name, value) in &self.own {
            let bound = format!("must have at most {MAX_OWN_LETTERS} characters");
            check(name, value.chars().count() <= MAX_OWN_LETTERS, bound);
        }
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
    fn problem(&self, provider: &Provider) -> Option<String> {
        let effects = [self.fault.is_some(), self.decline.is_some(), self.delay_ms.is_some()];
        if effects.into_iter().filter(|is_there| *is_there).count() != 1 {
            return Some("needs one of fault, decline and delayMs".to_owned());
        }
        if self.decline.as_deref().is_some_and(|code| provider.decline(code).is_none()) {
            return Some(codes(provider));
        }
        if self.delay_ms.is_some_and(|delay| delay > MAX_LATENCY_MS) {
            return Some(format!("delayMs must be at most {MAX_LATENCY_MS}"));
        }
        if !(1..=MAX_TIMES).contains(&self.times()) {
            return Some(format!("times must be from 1 to {MAX_TIMES}"));
        }
        let long = |text: &Option<String>| text.as_ref().is_some_and(|it| it.len() > MAX_PATH);
        let message = || format!("method and path must have at most {MAX_PATH} characters");
        (long(&self.method) || long(&self.path)).then(message)
    }

    pub(crate) fn times(&self) -> u32 {
        self.times.unwrap_or(1)
    }
}

fn codes(provider: &Provider) -> String {
    let codes: Vec<_> = provider.declines.iter().map(|decline| decline.code).collect();
    format!("the codes of {} are {}", provider.name, codes.join(", "))
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
