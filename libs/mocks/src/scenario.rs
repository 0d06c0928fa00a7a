//! What is told to go wrong with a call: one of `next`, the rate, the error rate, in this order.

use serde_json::json;

use crate::{
    context::CallContext,
    failure::{CallFailure, Halt},
    route::is_like,
    settings::{ErrorKind, LatencySetting, NextCall},
};

/// What the settings do to a call before the provider sees it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) fault: Option<ErrorKind>,
    /// Declines this call instead of the setting.
    pub(crate) decline: Option<String>,
    pub(crate) delay_ms: u64,
    /// Seconds to wait, where the rate is used up.
    pub(crate) wait: Option<u64>,
}

/// Seconds that an injected rate limit asks to wait.
const INJECTED_WAIT: u64 = 1;

pub(crate) fn told(context: &mut CallContext<'_>) -> Result<Told, Halt> {
    let mut told = Told { delay_ms: latency(context), ..Told::default() };
    if let Some(next) = take_next(context)? {
        told.fault = next.fault;
        told.decline = next.decline;
        told.delay_ms = next.delay_ms.unwrap_or(told.delay_ms);
        return Ok(told);
    }
    let settings = context.mock.settings;
    if let Some(rate) = settings.rate_limit
        && let Err(wait) = context.allowance(rate.per_minute)?
    {
        told.wait = Some(wait);
        return Ok(told);
    }
    if settings.error_rate > 0.0 && context.chance.share() < settings.error_rate {
        told.fault = Some(settings.error_kind);
    }
    Ok(told)
}

impl Told {
    /// The failure that the provider says in its own words; none where there is no fault, or where the
    /// connection has it.
    pub(crate) fn failure(&self) -> Option<CallFailure> {
        if let Some(after) = self.wait {
            return Some(CallFailure::RateLimited { after });
        }
        match self.fault? {
            ErrorKind::Server => Some(CallFailure::Server),
            ErrorKind::Unavailable => Some(CallFailure::Unavailable),
            ErrorKind::RateLimit => Some(CallFailure::RateLimited { after: INJECTED_WAIT }),
            ErrorKind::Unauthorized => Some(CallFailure::Unauthorized),
            ErrorKind::Timeout | ErrorKind::Reset | ErrorKind::Malformed => None,
        }
    }
}

fn latency(context: &CallContext<'_>) -> u64 {
    match context.mock.settings.latency_ms {
        LatencySetting::Fixed(time) => time,
        LatencySetting::Between { min, max } => {
            // At most 30,000: the number is exact.
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small"
            )]
            let part = ((max - min + 1) as f64 * context.chance.share()) as u64;
            min + part
        }
    }
}

/// The first entry that fits and is not used up; its use is written with the call.
fn take_next(context: &mut CallContext<'_>) -> Result<Option<NextCall>, Halt> {
    let list = &context.mock.settings.next;
    if list.is_empty() {
        return Ok(None);
    }
    let revision = context.mock.revision.to_string();
    let used = context.row("~next", &revision)?;
    let mut used: Vec<u32> =
        used.and_then(|doc| serde_json::from_str(&doc).ok()).unwrap_or_default();
    used.resize(list.len(), 0);
    let fits = |next: &NextCall| {
        let method = next.method.as_deref();
        let path = next.path.as_deref();
        method.is_none_or(|method| method.eq_ignore_ascii_case(&context.call.method))
            && path.is_none_or(|path| is_like(path, &context.call.path))
    };
    let place = list.iter().zip(&used).position(|(next, used)| *used < next.times() && fits(next));
    let Some(place) = place else { return Ok(None) };
    used[place] += 1;
    context.write_row("~next", &revision, Some(json!(used).to_string()));
    Ok(Some(list[place].clone()))
}
