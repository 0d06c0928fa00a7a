//! How the service is doing, as everybody may know it.

use serde::{Deserialize, Serialize};

use crate::Time;

/// A state of the service or of a part of it; the later ones are worse.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ServiceState {
    /// It works.
    Operational,
    /// The last probe failed, or nobody took one lately.
    Degraded,
    /// An incident is going on.
    Outage,
}

/// A part of the service that is probed.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// Mail is accepted and can be read.
    Smtp,
    /// The REST API answers.
    Api,
    /// Rows and the bytes of messages are to be had, and there is room for more.
    Storage,
    /// Jobs are taken when they are due.
    Queue,
    /// Webhooks are called when they are due.
    Webhooks,
}

impl Component {
    /// Every component, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Smtp, Self::Api, Self::Storage, Self::Queue, Self::Webhooks];

    /// A word for keys and metrics.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Smtp => "smtp",
            Self::Api => "api",
            Self::Storage => "storage",
            Self::Queue => "queue",
            Self::Webhooks => "webhooks",
        }
    }

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Smtp => "Receiving mail",
            Self::Api => "API",
            Self::Storage => "Storage",
            Self::Queue => "Job queue",
            Self::Webhooks => "Webhooks",
        }
    }

    /// What its incidents are called.
    #[must_use]
    pub fn incident_title(self) -> &'static str {
        match self {
            Self::Smtp => "Mail is not received",
            Self::Api => "The API does not answer",
            Self::Storage => "Storage does not answer or is full",
            Self::Queue => "Jobs are late",
            Self::Webhooks => "Webhooks are late",
        }
    }
}

/// How the service is doing, and how it did in the last 90 days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Status)]
pub struct ServiceStatus {
    /// The worst state of the components.
    pub status: ServiceState,
    /// Its parts.
    pub components: Vec<ComponentStatus>,
    /// Jobs that are not done; null when the queue does not answer.
    #[schema(required)]
    pub backlog: Option<JobBacklog>,
    /// What went wrong in the last 90 days, newest first; at most 50.
    #[schema(max_items = 50)]
    pub incidents: Vec<StatusIncident>,
}

/// How a part of the service is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ComponentStatus {
    /// Which part.
    pub id: Component,
    /// What people call it.
    #[schema(example = "Receiving mail")]
    pub name: String,
    /// Its state.
    pub status: ServiceState,
    /// The percentage of the probes of 90 days that went well; null before the first one.
    #[schema(required, minimum = 0, maximum = 100, example = 99.98)]
    pub uptime90d: Option<f64>,
    /// The last 90 days in UTC, the oldest first and today last.
    #[schema(min_items = 90, max_items = 90)]
    pub days: Vec<DayStatus>,
}

/// A day of a part of the service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = StatusDay)]
pub struct DayStatus {
    /// The day in UTC.
    #[schema(format = Date, example = "2026-01-31")]
    pub date: String,
    /// The percentage of its probes that went well; null when none was taken.
    #[schema(required, minimum = 0, maximum = 100, example = 100.0)]
    pub uptime: Option<f64>,
}

/// Jobs that are not done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobBacklog {
    /// Due, and waiting or being done.
    pub pending: u64,
    /// Due for more than a minute, and not being done.
    pub overdue: u64,
    /// Seconds for which the oldest of these has been due; 0 when there is none.
    pub oldest_seconds: u64,
}

/// A time in which a part of the service did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Incident)]
pub struct StatusIncident {
    /// Opaque.
    pub id: String,
    /// What went wrong.
    #[schema(example = "Mail is not received")]
    pub title: String,
    /// When the first probe failed.
    pub started_at: Time,
    /// When the first of the probes succeeded that ended it; null while it goes on.
    #[schema(required)]
    pub resolved_at: Option<Time>,
    /// The part.
    pub component: Component,
}
