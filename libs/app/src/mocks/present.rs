//! Mocks and providers as their readers see them.

use std::collections::HashSet;

use serde_json::Value;
use trapline_mocks::{MockSettings, Provider, filled};
use trapline_model::{
    ApiMock, MockAddresses, MockDecline, MockOwnSetting, MockProvider, MockSdk, MockSnippet,
    MockStep, ProjectId,
};
use trapline_store::records::Mock;

use super::{Mocks, fields};
use crate::{Error, Result};

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// A provider, from its table.
pub(super) fn provider(provider: &'static Provider) -> MockProvider {
    let decline = |decline: &trapline_mocks::Decline| MockDecline {
        code: decline.code.to_owned(),
        description: decline.message.to_owned(),
        triggers: texts(decline.triggers),
    };
    let setting = |setting: &trapline_mocks::OwnSetting| MockOwnSetting {
        name: setting.name.to_owned(),
        description: setting.description.to_owned(),
    };
    let sdk = |sdk: &trapline_mocks::Sdk| MockSdk {
        language: sdk.language.to_owned(),
        package: sdk.package.to_owned(),
        version: sdk.version.to_owned(),
    };
    let step = |(kind, from, to): (&str, &str, &str)| MockStep {
        kind: kind.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    };
    MockProvider {
        id: provider.id.to_owned(),
        name: provider.name.to_owned(),
        category: provider.category,
        decline_codes: provider.declines.iter().map(decline).collect(),
        webhook_events: texts(provider.hooks.events),
        credentials: provider.credentials.iter().map(|it| it.name.to_owned()).collect(),
        settings: provider.own_settings.iter().map(setting).collect(),
        object_kinds: provider.kinds.iter().map(|kind| kind.name.to_owned()).collect(),
        steps: provider.steps().map(step).collect(),
        triggers: provider.triggers().map(str::to_owned).collect(),
        sdks: provider.sdks.iter().map(sdk).collect(),
    }
}

impl Mocks {
    /// Where a mock is called.
    pub(super) fn base_url_of(&self, slug: &str) -> String {
        format!("{}/mock/{slug}", self.settings.base_url)
    }

    /// Where a mock is called by a host name of its own, if mocks have those: at the scheme and port of the base URL.
    fn host_of(&self, slug: &str) -> Option<String> {
        let domain = self.settings.mock_domain.as_deref()?;
        let (scheme, rest) = self.settings.base_url.split_once("://")?;
        let authority = rest.split('/').next().unwrap_or_default();
        let port = authority.rsplit_once(':').map(|(_, port)| port);
        let port = port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        Some(format!("{scheme}://{slug}.{domain}{port}"))
    }

    /// A mock in a list; a project that is gone is none.
    pub(super) fn listed(
        &self,
        mock: Mock,
        provider: &'static Provider,
        projects: &HashSet<ProjectId>,
    ) -> Result<ApiMock> {
        let settings = MockSettings::of(provider, &mock.settings).map_err(fields::settings)?;
        let base_url = self.base_url_of(&mock.slug);
        let tls = self.settings.https_url.as_ref().map(|url| format!("{url}/mock/{}", mock.slug));
        Ok(ApiMock {
            id: mock.id,
            name: mock.name,
            provider: mock.provider,
            category: provider.category,
            addresses: MockAddresses {
                path: base_url.clone(),
                host: self.host_of(&mock.slug),
                tls,
            },
            slug: mock.slug,
            base_url,
            webhook_url: mock.webhook_url,
            project_id: mock.project.filter(|project| projects.contains(project)),
            settings: serde_json::to_value(settings).unwrap_or(Value::Null),
            credentials: None,
            snippets: None,
            expires_at: mock.expires_at,
            created_at: mock.created_at,
        })
    }

    /// A mock with its credentials and snippets.
    pub(super) async fn shown(&self, mock: Mock) -> Result<ApiMock> {
        let provider = trapline_mocks::find(&mock.provider).ok_or(Error::NotFound)?;
        let credentials = provider.shown(&self.opened(&mock)?);
        let projects = self.projects_of(mock.team, std::slice::from_ref(&mock)).await?;
        let base_url = self.base_url_of(&mock.slug);
        let snippet = |snippet: &trapline_mocks::Snippet| MockSnippet {
            language: snippet.language.to_owned(),
            purpose: snippet.purpose.to_owned(),
            code: filled(snippet.template, &base_url, &credentials),
        };
        let snippets = provider.snippets.iter().map(snippet).collect();
        let listed = self.listed(mock, provider, &projects)?;
        Ok(ApiMock { snippets: Some(snippets), credentials: Some(credentials), ..listed })
    }
}
