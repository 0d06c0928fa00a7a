//! A team's first steps.

use serde::Serialize;

/// How far a team got in its first steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Onboarding {
    /// How many steps are made.
    pub completed: usize,
    /// How many there are.
    pub total: usize,
    /// The steps, in the order in which they are best made.
    pub steps: Vec<OnboardingStep>,
}

/// One first step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct OnboardingStep {
    /// A stable word for programs.
    #[schema(example = "inbox")]
    pub id: String,
    /// For people.
    #[schema(example = "Create an inbox")]
    pub title: String,
    /// Whether it happened.
    pub done: bool,
    /// Where it is made: a path of this service, before which comes the base URL.
    #[schema(example = "/inboxes")]
    pub href: String,
}
