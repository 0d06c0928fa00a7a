//! Keeps what a mock was asked and what it answered, without secrets.

use std::{collections::BTreeMap, time::Duration};

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest as _, Sha256};
use trapline_mocks::{
    CallAnswer, CalledMock, MockCall, Provider, has_live_key, plain_body, redacted_body,
    redacted_headers,
};
use trapline_model::{MockCallSummary, MockHeader, MockTransfer};
use trapline_store::{
    Op, When,
    records::{MockCallBody, MockCallRow},
};

use super::{Mocks, opened::OpenedMock};
use crate::Result;

/// Bytes of a body that are kept.
const MAX_BODY: usize = 64 << 10;
/// Ids that a call is found by.
const MAX_IDS: usize = 20;
/// Letters of paths, queries and names of clients that are listed.
const MAX_TEXT: usize = 500;

impl Mocks {
    pub(super) async fn capture(
        &self,
        mock: &OpenedMock,
        call: &MockCall,
        answer: &CallAnswer,
        took: Duration,
    ) -> Result<()> {
        let (of, id, via) = (mock.of(), mock.id, mock.address.via);
        let mock = &mock.called();
        let plain = plain_body(call, mock.provider.max_body);
        let secrets = secrets_of(mock, answer);
        let hidden = |text: &str| redacted_body(text, mock.provider, &secrets);
        let mut warnings = Vec::new();
        if has_live_key(mock.provider, &call.headers, &plain) {
            warnings.push("the call carries what looks like a live key".to_owned());
        }
        let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let summary = MockCallSummary {
            id,
            at: mock.now,
            method: cut(&call.method),
            path: cut(&hidden(&call.path)),
            query: cut(&hidden(&call.query)),
            status: answer.reply.status,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            operation: answer.operation.clone(),
            via: via.to_owned(),
            fault: answer.fault.clone(),
            replayed: answer.replayed,
            object_ids: answer.touched.iter().take(MAX_IDS).map(|id| cut(id)).collect(),
            request_size: size(call.body.len()),
            response_size: size(answer.reply.body.len()),
            client: call.header("user-agent").map(cut),
            warnings,
        };
        let body = MockCallBody {
            of,
            id,
            request: transfer(&call.headers, &plain, mock.provider, &secrets),
            response: transfer(
                &answer.reply.headers,
                answer.reply.body.as_bytes(),
                mock.provider,
                &secrets,
            ),
        };
        let row = MockCallRow { of, call: summary };
        let (body, row) = (Op::put(&body, None, When::Always)?, Op::put(&row, None, When::Always)?);
        // What a listed call sent is there.
        Ok(self.store.write(vec![body, row]).await?)
    }
}

/// What must not be shown, by what is shown instead.
fn secrets_of(mock: &CalledMock<'_>, answer: &CallAnswer) -> BTreeMap<String, String> {
    let made = answer.secrets.iter().enumerate();
    let made = made.map(|(place, secret)| (format!("secret {}", place + 1), secret.clone()));
    mock.credentials.clone().into_iter().chain(made).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn transfer(
    headers: &[(String, String)],
    body: &[u8],
    provider: &Provider,
    credentials: &BTreeMap<String, String>,
) -> MockTransfer {
    let headers = redacted_headers(headers, credentials).into_iter();
    let kept = &body[..body.len().min(MAX_BODY)];
    // A letter may be cut in two.
    let whole = std::str::from_utf8(kept).or_else(|error| {
        let is_cut = error.error_len().is_none() && kept.len() < body.len();
        std::str::from_utf8(&kept[..if is_cut { error.valid_up_to() } else { kept.len() }])
    });
    let (encoding, text) = match whole {
        Ok(text) => ("utf8", redacted_body(text, provider, credentials)),
        Err(_) => ("base64", BASE64.encode(kept)),
    };
    MockTransfer {
        headers: headers.map(|(name, value)| MockHeader { name, value }).collect(),
        body: (!body.is_empty()).then_some(text),
        encoding: encoding.to_owned(),
        truncated: kept.len() < body.len(),
        sha256: HEXLOWER.encode(&Sha256::digest(body)),
    }
}
