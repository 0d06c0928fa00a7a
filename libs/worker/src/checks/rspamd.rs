//! Rspamd, by its HTTP protocol.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use http::{
    Method, Request, StatusCode,
    header::{CONNECTION, SERVER},
};
use serde::Deserialize;
use tokio::time::Instant;
use trapline_app::{SpamEngine, SpamEngineAddress, SpamEngineFailure, SpamJudgement, SpamMail};
use trapline_model::MatchedRule;

use crate::outbound::{Client, OutboundFailure};

/// Recipients that are told to the engine.
const MAX_RECIPIENTS: usize = 100;

/// Asks rspamd, over a client that may reach where the operator put it.
pub struct RspamdEngine {
    client: Client,
    address: SpamEngineAddress,
}

/// What it answers, as far as a report needs it.
#[derive(Debug, Deserialize)]
struct RspamdScan {
    score: f64,
    required_score: f64,
    action: String,
    #[serde(default)]
    symbols: BTreeMap<String, Symbol>,
}

#[derive(Debug, Deserialize)]
struct Symbol {
    #[serde(default)]
    score: f64,
    #[serde(default)]
    description: Option<String>,
}

impl RspamdEngine {
    /// Asks the engine at an address.
    #[must_use]
    pub fn new(client: Client, address: SpamEngineAddress) -> Self {
        Self { client, address }
    }

    async fn fetch(
        &self,
        request: http::request::Builder,
        path: &str,
        body: Bytes,
    ) -> Result<http::Response<Vec<u8>>, SpamEngineFailure> {
        let url = format!("http://{}:{}{path}", self.address.host, self.address.port);
        // Engines close what is idle when they like, and nothing is sent twice.
        let request = request.header(CONNECTION, "close");
        let request = request.uri(url).body(body).map_err(|_| SpamEngineFailure::BadAnswer)?;
        let answer = self.client.fetch(request, Instant::now() + self.address.timeout).await;
        let answer = answer.map_err(|failure| match failure {
            OutboundFailure::DnsError | OutboundFailure::ConnectRefused => {
                SpamEngineFailure::Unreachable
            }
            OutboundFailure::ConnectTimeout | OutboundFailure::Timeout => {
                SpamEngineFailure::Timeout
            }
            _ => SpamEngineFailure::BadAnswer,
        })?;
        if answer.status() == StatusCode::OK {
            Ok(answer)
        } else {
            Err(SpamEngineFailure::BadAnswer)
        }
    }

    /// The request, with what is known of the envelope.
    fn request(&self, mail: &SpamMail) -> http::request::Builder {
        let mut request = Request::builder()
            .method(Method::POST)
            .header("From", told(&mail.from))
            .header("Queue-Id", told(&mail.id));
        for recipient in mail.to.iter().take(MAX_RECIPIENTS) {
            request = request.header("Rcpt", told(recipient));
        }
        let more = [
            ("Ip", mail.client_ip.map(|ip| ip.to_string())),
            ("Helo", mail.helo.clone()),
            ("Password", self.address.password.clone()),
        ];
        for (name, value) in more {
            if let Some(value) = value {
                request = request.header(name, told(&value));
            }
        }
        request
    }
}

/// A value as a field can carry it: what else an address of an envelope has is not the engine's business.
fn told(value: &str) -> String {
    value.chars().filter(|char| !char.is_control()).collect()
}

#[async_trait]
impl SpamEngine for RspamdEngine {
    fn name(&self) -> &'static str {
        "rspamd"
    }

    async fn judge(&self, mail: &SpamMail) -> Result<SpamJudgement, SpamEngineFailure> {
        let answer = self.fetch(self.request(mail), "/checkv2", mail.raw.clone()).await?;
        let server = answer.headers().get(SERVER).and_then(|server| server.to_str().ok());
        let version = server.unwrap_or("rspamd").to_owned();
        let scan: RspamdScan =
            serde_json::from_slice(answer.body()).map_err(|_| SpamEngineFailure::BadAnswer)?;
        judgement(scan, version).ok_or(SpamEngineFailure::BadAnswer)
    }

    async fn answers(&self) -> bool {
        let request = Request::builder().method(Method::GET);
        self.fetch(request, "/ping", Bytes::new()).await.is_ok()
    }
}

/// What a scan says; none without a score. `is_skipped` is of no meaning: the test for spam skips all rules.
fn judgement(scan: RspamdScan, version: String) -> Option<SpamJudgement> {
    if !scan.score.is_finite() || !scan.required_score.is_finite() {
        return None;
    }
    let rule = |(name, symbol): (String, Symbol)| MatchedRule {
        name,
        score: symbol.score,
        description: symbol.description.unwrap_or_default(),
    };
    let mut rules: Vec<_> = scan.symbols.into_iter().map(rule).collect();
    super::by_weight(&mut rules);
    Some(SpamJudgement {
        version,
        score: scan.score,
        threshold: scan.required_score,
        is_spam: matches!(scan.action.as_str(), "reject" | "rewrite subject" | "add header"),
        truncated: false,
        rules,
    })
}
