//! What settings may be.

use super::{LatencySetting, MockSettings, NextCall, SettingIssue};
use crate::Provider;

const MAX_LATENCY_MS: u64 = 30_000;
const MAX_NEXT: usize = 100;
const MAX_TIMES: u32 = 10_000;
const MAX_PATH: usize = 200;
const MAX_RATE: u32 = 1_000_000;
const MAX_DUPLICATES: u32 = 5;
const MAX_WEBHOOK_DELAY_MS: u64 = 3_600_000;
const MAX_PACE_MS: u64 = 3_600_000;
const MAX_STALE_SECONDS: u64 = 31_536_000;
const MAX_OWN_LETTERS: usize = 200;

impl MockSettings {
    pub(super) fn check_bounds(&self, provider: &Provider, issues: &mut Vec<SettingIssue>) {
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
        let pace = format!("must be at most {MAX_PACE_MS}");
        check("paceMs", self.pace_ms <= MAX_PACE_MS, pace);
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
}

fn codes(provider: &Provider) -> String {
    let codes: Vec<_> = provider.declines.iter().map(|decline| decline.code).collect();
    format!("the codes of {} are {}", provider.name, codes.join(", "))
}
