//! Calls that carry a key: the first answer comes again.

use aws_lc_rs::digest::{SHA256, digest};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
    provider::Idempotency,
    state::WriteLife,
};

/// The longest key, in bytes.
const MAX_KEY: usize = 255;
/// The longest answer that is remembered, in bytes.
const MAX_REMEMBERED: usize = 32 << 10;

/// The first answer to a call with a key.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    /// SHA-256 of method, path and body.
    request: String,
    reply: MockReply,
    /// Secrets in the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<String>,
}

/// The key of a call that may come again.
pub(crate) struct CallKey {
    key: String,
    request: String,
}

/// The call's key; the answer of the first call, where this is another one with its key.
pub(crate) fn look_up(
    context: &mut CallContext<'_>,
) -> Result<(Option<CallKey>, Option<MockReply>), Halt> {
    let Idempotency::Replay { header, mark } = context.provider.idempotency else {
        return Ok((None, None));
    };
    let may_repeat = matches!(context.call.method.as_str(), "POST" | "PUT");
    let Some(key) = context.call.header(header).filter(|key| may_repeat && !key.is_empty()) else {
        return Ok((None, None));
    };
    if key.len() > MAX_KEY {
        let message = format!("an idempotency key has at most {MAX_KEY} characters");
        return Err(CallFailure::invalid("", message).into());
    }
    let key = CallKey { key: key.to_owned(), request: fingerprint(context) };
    let Some(doc) = context.row("~key", &key.key)? else { return Ok((Some(key), None)) };
    let Ok(Remembered { request, mut reply, secrets }) = serde_json::from_str(&doc) else {
        return Ok((Some(key), None));
    };
    if request != key.request {
        return Err(CallFailure::KeyReused { key: key.key }.into());
    }
    context.secrets = secrets;
    if !mark.is_empty() {
        reply = reply.with(mark, "true");
    }
    Ok((None, Some(reply)))
}

/// Remembers the answer with what the call writes.
pub(crate) fn remember(context: &mut CallContext<'_>, key: CallKey, reply: &MockReply) {
    let secrets = context.secrets.clone();
    let holds_secret = !secrets.is_empty();
    let remembered = Remembered { request: key.request, reply: reply.clone(), secrets };
    let doc = serde_json::to_string(&remembered).unwrap_or_default();
    if doc.len() <= MAX_REMEMBERED {
        context.write_row_for("~key", &key.key, Some(doc), WriteLife::Key);
        if holds_secret {
            context.keep_secret("~key", &key.key);
        }
    }
}

fn fingerprint(context: &CallContext<'_>) -> String {
    let call = context.call;
    let head = format!("{} {}\n", call.method, call.path);
    HEXLOWER.encode(digest(&SHA256, &[head.as_bytes(), &call.body].concat()).as_ref())
}
