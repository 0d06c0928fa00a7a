//! What a plan says.

use std::{fmt, time::Duration};

/// What a plan can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanLimit {
    /// Inboxes that a team has at the same time.
    Inboxes,
    /// Messages that a team stores in a calendar month (UTC), one for each inbox that a mail goes to.
    MessagesPerMonth,
    /// Messages that one inbox keeps, which caps its own bound.
    MessagesPerInbox,
    /// The size of one message, in bytes.
    MessageBytes,
    /// Days after which a message is removed.
    RetentionDays,
    /// People in the team.
    Members,
}

impl PlanLimit {
    /// Every limit, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Inboxes,
        Self::MessagesPerMonth,
        Self::MessagesPerInbox,
        Self::MessageBytes,
        Self::RetentionDays,
        Self::Members,
    ];

    /// The limit's name in files of plans and in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inboxes => "inboxes",
            Self::MessagesPerMonth => "messagesPerMonth",
            Self::MessagesPerInbox => "messagesPerInbox",
            Self::MessageBytes => "messageBytes",
            Self::RetentionDays => "retentionDays",
            Self::Members => "members",
        }
    }

    /// The least and the greatest number that a plan may have.
    pub(super) const fn bounds(self) -> (u64, u64) {
        match self {
            Self::MessagesPerInbox => (1, 10_000),
            Self::MessageBytes => (1024, 1 << 40),
            Self::RetentionDays => (1, 3650),
            Self::Inboxes | Self::MessagesPerMonth | Self::Members => (1, 1_000_000_000_000),
        }
    }
}

/// What a plan can include or leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanFeature {
    /// Webhooks are made, tested, redelivered and delivered to.
    Webhooks,
}

impl PlanFeature {
    /// Every feature.
    pub const ALL: [Self; 1] = [Self::Webhooks];

    /// The feature's name in files of plans and in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Webhooks => "webhooks",
        }
    }
}

impl fmt::Display for PlanLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for PlanFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a team on this plan may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The plan's id, by which teams name it: up to 40 lower-case letters, digits and hyphens.
    pub id: String,
    /// The name that people see, of at most 100 characters.
    pub name: String,
    /// In the order of [`PlanLimit::ALL`]; `None` is no limit.
    pub(super) limits: [Option<u64>; PlanLimit::ALL.len()],
    pub(super) features: Vec<PlanFeature>,
}

impl Plan {
    /// Of what the service keeps for itself, which no plan of the operator bounds.
    pub(super) fn of_service() -> Self {
        Self {
            id: "service".to_owned(),
            name: "Service".to_owned(),
            limits: [None; PlanLimit::ALL.len()],
            features: Vec::new(),
        }
    }

    /// The most of something; `None` is no limit.
    #[must_use]
    pub fn most(&self, limit: PlanLimit) -> Option<u64> {
        self.limits[limit as usize]
    }

    /// Whether the plan has a feature.
    #[must_use]
    pub fn includes(&self, feature: PlanFeature) -> bool {
        self.features.contains(&feature)
    }

    /// The names of the plan's features, in the order of [`PlanFeature::ALL`].
    #[must_use]
    pub fn feature_names(&self) -> Vec<&'static str> {
        let included = PlanFeature::ALL.into_iter().filter(|feature| self.includes(*feature));
        included.map(PlanFeature::name).collect()
    }

    /// How long a message is kept; `None` is for as long as its inbox keeps it.
    #[must_use]
    pub fn retention(&self) -> Option<Duration> {
        let days = self.most(PlanLimit::RetentionDays)?;
        Some(Duration::from_hours(days.saturating_mul(24)))
    }
}
