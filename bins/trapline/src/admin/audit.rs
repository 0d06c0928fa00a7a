//! `trapline audit`

use anyhow::{Context, Result, ensure};
use trapline_model::TeamId;

use super::with_app;
use crate::{config, output::print};

/// Prints all that is kept of a team's audit log, a line of JSON for each entry. The team may be gone.
pub(crate) async fn audit(named: Option<&String>, backend: config::Backend) -> Result<()> {
    with_app(backend, async |app, first| {
        let team = match named {
            None => first,
            Some(id) => id
                .parse::<TeamId>()
                .ok()
                .with_context(|| format!("--team {id}: wants a team's id"))?,
        };
        let (mut log, mut is_there) = (app.audit().kept(team).await?, false);
        while let Some(entries) = log.next_page().await? {
            let lines = entries.iter().map(|entry| Ok(serde_json::to_string(entry)? + "\n"));
            print(&lines.collect::<Result<String>>()?)?;
            is_there = true;
        }
        ensure!(is_there, "--team {team}: no audit log is kept of such a team");
        Ok(())
    })
    .await
}
