//! What engines say of a message.

use std::{sync::Arc, time::Instant};

use trapline_checks::spam;
use trapline_model::{MessageId, Principal, SpamEngineInfo, SpamReport};
use trapline_store::records;

use super::{Checks, gate::EngineGate, outcome};
use crate::{
    Error, Result, metrics,
    spam_engine::{SpamEngine, SpamMail},
};

/// How long what an engine said of a message holds: its rules may learn.
const KEPT_MILLIS: i64 = 60_000;

/// The engines of this server.
pub(super) struct SpamEngines {
    /// By which messages are judged where no engine is named.
    first: &'static str,
    gates: Vec<EngineGate>,
}

impl Checks {
    /// Sets the engines, once; `None` is the built-in one, which is there anyway. The first one judges where none
    /// is named. A later list is ignored.
    pub fn set_engines(&self, engines: Vec<Option<Arc<dyn SpamEngine>>>) {
        let first = engines.first().and_then(Option::as_ref).map_or(spam::ENGINE, |it| it.name());
        let gates = engines.into_iter().flatten().map(EngineGate::new).collect();
        drop(self.engines.set(SpamEngines { first, gates }));
    }

    /// What `engine` says of a message; the first one of the setting when none is named.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, [`Error::Invalid`] when no engine has that
    /// name, [`Error::SpamEngine`] when it has no answer, [`Error::Damaged`] when the message's bytes are gone or
    /// not those that were stored, and [`Error::Unavailable`] when too much work waits for a processor.
    pub async fn spam(
        &self,
        by: &Principal,
        id: MessageId,
        engine: Option<&str>,
    ) -> Result<Arc<SpamReport>> {
        let first = self.engines.get().map_or(spam::ENGINE, |engines| engines.first);
        let name = engine.unwrap_or(first);
        if name == spam::ENGINE {
            let (threshold, now) = (self.settings.spam_threshold, self.clock.now());
            let check = move |raw: &[u8]| spam::check(raw, id.received_at(), threshold, now);
            return self.report(by, id, ("spam", spam::ENGINE), check).await;
        }
        let record = self.messages.record(by.team, id).await?;
        let Some(gate) = self.gates().iter().find(|gate| gate.name() == name) else {
            let known = self.gates().iter().map(EngineGate::name).chain([spam::ENGINE]);
            let message = format!("this server has {}", known.collect::<Vec<_>>().join(", "));
            return Err(Error::invalid("engine", "engine_not_configured", message));
        };
        self.judged(id, record, gate).await
    }

    /// The engines, the one that judges by itself first, with whether they answer.
    pub(super) async fn engine_infos(&self) -> Vec<SpamEngineInfo> {
        let builtin = SpamEngineInfo {
            name: spam::ENGINE.to_owned(),
            version: Some(spam::VERSION.to_owned()),
            available: true,
        };
        let mut infos = vec![builtin];
        for gate in self.gates() {
            let available = gate.answers().await;
            infos.push(SpamEngineInfo { name: gate.name().to_owned(), version: None, available });
        }
        let first = self.engines.get().map(|engines| engines.first);
        infos.sort_by_key(|info| Some(info.name.as_str()) != first);
        infos
    }

    fn gates(&self) -> &[EngineGate] {
        self.engines.get().map_or(&[], |engines| &engines.gates)
    }

    /// What an engine says of a message, or said of it in this minute.
    async fn judged(
        &self,
        id: MessageId,
        record: records::Message,
        gate: &EngineGate,
    ) -> Result<Arc<SpamReport>> {
        let (began, now) = (Instant::now(), self.clock.now());
        let compute = async {
            let zone = self.zone_of(id.inbox).await?.unwrap_or_default();
            let mail = SpamMail {
                id: id.to_string(),
                raw: self.messages.source(&record).await?,
                from: record.envelope.from,
                to: record.envelope.to,
                client_ip: zone.client_ip.and_then(|ip| ip.parse().ok()),
                helo: zone.helo,
            };
            let failed = |failure| Error::SpamEngine { engine: gate.name(), failure };
            let judged = gate.judge(&mail).await.map_err(failed)?;
            Ok(SpamReport {
                engine: gate.name().to_owned(),
                engine_version: judged.version,
                score: judged.score,
                threshold: judged.threshold,
                is_spam: judged.is_spam,
                truncated: judged.truncated,
                checked_at: now,
                rules: judged.rules,
            })
        };
        let minute = now.millis() / KEPT_MILLIS;
        let report = self.reports.get(id, format!("{} {minute}", gate.name()), compute).await;
        metrics::check_done("spam", outcome(&report), began.elapsed());
        Ok(report?.0)
    }
}
