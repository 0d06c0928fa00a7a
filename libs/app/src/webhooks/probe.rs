//! The probe of webhooks: a job that has its process call a receiver of its own.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::Time;
use trapline_store::Job;
use url::Url;

use super::{
    SECRET_LETTERS, WebhookRequest, WebhookSender, Webhooks, deliver::WebhookWork,
    sign::SecretSigner,
};
use crate::{
    Result,
    secrets::{BASE62, random_text},
};

/// When a call that failed is made again.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// What the job of a probe asks for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct ProbeCall {
    /// When no probe waits for the job any more.
    probe_until: Time,
}

/// The work of a probe's job, which is given up at `probe_until`.
pub(crate) fn probe_work(probe_until: Time) -> impl Serialize {
    WebhookWork::Probe(ProbeCall { probe_until })
}

impl Webhooks {
    /// Calls this process's own receiver with a signed request, again and again until that goes well.
    pub(super) async fn call_probe_receiver(
        &self,
        job: &Job,
        call: ProbeCall,
        sender: &dyn WebhookSender,
    ) -> Result<Option<Job>> {
        let secret = random_text(SECRET_LETTERS, BASE62);
        let Ok(url) = Url::parse("http://probe.invalid/") else { return Ok(None) };
        let request = WebhookRequest {
            url,
            headers: vec![("content-type", "application/json".to_owned())],
            body: format!("{{\"probe\":\"{}\"}}", job.id).into(),
            signer: Box::new(SecretSigner::new(secret)),
            at: self.clock.now(),
            attempt: 1,
        };
        match sender.call_probe_receiver(&request).await {
            Ok(()) => {
                self.heartbeats.record_probe(job).await?;
                Ok(None)
            }
            Err(reason) => {
                tracing::warn!(reason, "the probe of webhooks failed");
                let goes_on = self.clock.now() < call.probe_until;
                let again = goes_on.then(|| self.jobs.delayed(job, RETRY_DELAY));
                Ok(again.transpose()?)
            }
        }
    }
}
