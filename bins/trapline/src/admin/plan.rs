//! `trapline plan …`

use anyhow::{Context, Result};
use trapline_app::{App, Settings};

use super::{table, team, with_settings};
use crate::{
    config::{self, PlanSettings},
    output::print,
};

/// `trapline plan list`
pub(crate) fn list(plans: &PlanSettings) -> Result<()> {
    let catalog = plans.fill(Settings::default()).plans;
    let default = &catalog.default_plan().id;
    let text = format!("{}\nNew teams get {default}.\n", table::of_plans(&catalog));
    Ok(print(&text)?)
}

/// `trapline plan set`
pub(crate) async fn set(
    id: &str,
    named: Option<&String>,
    plans: &PlanSettings,
    backend: config::Backend,
) -> Result<()> {
    let settings = plans.fill(Settings::default());
    let plan = settings.plans.find(id).cloned();
    let plan = plan.with_context(|| {
        format!("there is no plan {id}; `trapline plan list` shows the plans there are")
    })?;
    let work = async |app: &App, first| {
        let team = team(app, first, named).await?;
        app.plans().put_team_on(team, &plan).await?;
        Ok(print(&format!("Team {team} is on the plan {} ({}).\n", plan.name, plan.id))?)
    };
    Box::pin(with_settings(settings, backend, work)).await
}
