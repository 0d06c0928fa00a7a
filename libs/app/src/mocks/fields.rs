//! Words of requests that name something: what is not there is told with what is.

use trapline_mocks::{Provider, SettingIssue};
use trapline_model::{MockCategory, ProjectId, TeamId};
use trapline_store::{load, records::Project};

use super::Mocks;
use crate::{Error, Issue, Result};

const CATEGORIES: [(&str, &[MockCategory]); 10] = [
    ("payments", &[MockCategory::Payments]),
    ("banking", &[MockCategory::Banking]),
    ("identity", &[MockCategory::Identity]),
    ("messaging", &[MockCategory::Messaging]),
    ("esign", &[MockCategory::Esign]),
    ("erp", &[MockCategory::Erp]),
    ("crm", &[MockCategory::Crm]),
    ("data", &[MockCategory::Data]),
    ("analytics", &[MockCategory::Analytics]),
    // What clients of earlier releases say for four of them.
    (
        "business",
        &[MockCategory::Esign, MockCategory::Erp, MockCategory::Data, MockCategory::Analytics],
    ),
];

fn unknown(path: &str, what: &str, known: &[&str]) -> Error {
    let message = format!("there is no such {what}; there are {}", known.join(", "));
    Error::invalid(path, "unknown", message)
}

pub(super) fn provider(id: &str) -> Result<&'static Provider> {
    let known: Vec<_> = trapline_mocks::ALL.iter().map(|provider| provider.id).collect();
    trapline_mocks::find(id).ok_or_else(|| unknown("provider", "provider", &known))
}

pub(super) fn categories(word: &str) -> Result<&'static [MockCategory]> {
    let found = CATEGORIES.iter().find(|(name, _)| *name == word);
    let known = CATEGORIES.map(|(name, _)| name);
    found.map(|(_, of)| *of).ok_or_else(|| unknown("category", "category", &known))
}

pub(super) fn credential(provider: &Provider, word: &str) -> Result<&'static str> {
    let found = provider.credential(word).map(|credential| credential.name);
    let known = provider.credentials.iter().map(|credential| credential.name);
    let known: Vec<_> = known.chain(["all"]).collect();
    found.ok_or_else(|| unknown("credential", "credential", &known))
}

pub(super) fn kind(provider: &Provider, word: &str) -> Result<()> {
    let known: Vec<_> = provider.kinds.iter().map(|kind| kind.name).collect();
    provider.kind(word).map(drop).ok_or_else(|| unknown("kind", "kind", &known))
}

pub(super) fn event(provider: &Provider, word: &str) -> Result<()> {
    let handshake = provider.hooks.handshake.as_ref().map(|handshake| handshake.event);
    let known: Vec<_> = provider.hooks.events.iter().copied().chain(handshake).collect();
    if known.contains(&word) { Ok(()) } else { Err(unknown("event", "event", &known)) }
}

pub(super) fn settings(issues: Vec<SettingIssue>) -> Error {
    let issue = |SettingIssue { path, message }| Issue {
        path: format!("settings.{path}"),
        code: "invalid_setting",
        message,
    };
    Error::Invalid(issues.into_iter().map(issue).collect())
}

impl Mocks {
    /// Checks an address by the rules that webhooks have.
    pub(super) fn check_webhook_url(&self, url: Option<&str>) -> Result<()> {
        let Some(url) = url else { return Ok(()) };
        self.webhooks.check_target(url).map(drop).map_err(|error| match error {
            Error::Invalid(issues) => {
                let path = || "webhookUrl".to_owned();
                let renamed = issues.into_iter().map(|issue| Issue { path: path(), ..issue });
                Error::Invalid(renamed.collect())
            }
            error => error,
        })
    }

    pub(super) async fn check_project(&self, team: TeamId, id: Option<ProjectId>) -> Result<()> {
        let Some(id) = id else { return Ok(()) };
        let message = "there is no project with this id";
        let found = load::<Project>(&*self.store, &Project::row(team, id)).await?;
        found.map(drop).ok_or_else(|| Error::invalid("projectId", "unknown", message))
    }
}
