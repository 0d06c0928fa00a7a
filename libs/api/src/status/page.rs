//! The page: no script, nothing from elsewhere, and every bar has a text.

use trapline_app::escape_html;
use trapline_model::{
    ComponentStatus, DayStatus, JobBacklog, ServiceState, ServiceStatus, StatusIncident, Time,
};

use crate::html_page::html;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52em;margin:2em auto;\
    padding:0 1em;overflow-wrap:anywhere}h1{font-size:1.3em;padding:.5em .8em;border-radius:.4em;\
    border-left:.5em solid}h2{font-size:1.1em;margin:1.6em 0 .2em}p{margin:.2em 0}\
    ol.days{display:flex;gap:1px;list-style:none;margin:0;padding:0}\
    ol.days li{flex:1;height:2em;background:#9ca3af}ol.days span{position:absolute;width:1px;\
    height:1px;overflow:hidden;clip-path:inset(50%)}li.good{background:#15803d!important}\
    li.poor{background:#b45309!important}li.bad{background:#b91c1c!important}\
    .operational{border-color:#15803d}.degraded{border-color:#b45309}.outage{border-color:#b91c1c}";

/// The page of a report.
pub(super) fn render(report: &ServiceStatus) -> String {
    let mut body = format!(
        "<h1 class=\"{}\">{}</h1>",
        word(report.status).to_lowercase(),
        match report.status {
            ServiceState::Operational => "Everything works",
            ServiceState::Degraded => "Some probes fail",
            ServiceState::Outage => "Something does not work",
        }
    );
    body.extend(report.components.iter().map(component_of));
    body.extend(report.backlog.iter().map(backlog_of));
    body += "<h2>Incidents of the last 90 days</h2>";
    if report.incidents.is_empty() {
        body += "<p>None.</p>";
    }
    body.extend(report.incidents.iter().map(incident_of));
    html(&format!("Status: {}", word(report.status)), STYLE, &body)
}

fn component_of(component: &ComponentStatus) -> String {
    let name = escape_html(&component.name);
    let uptime = component.uptime90d.map_or("not probed yet".to_owned(), |it| format!("{it} %"));
    let days: String = component.days.iter().map(bar_of).collect();
    format!(
        "<h2>{name}</h2><p>{}; {uptime} in 90 days</p><ol class=\"days\">{days}</ol>",
        word(component.status)
    )
}

fn bar_of(day: &DayStatus) -> String {
    let (class, text) = day_of(day);
    format!("<li class=\"{class}\" title=\"{text}\"><span>{text}</span></li>")
}

fn day_of(day: &DayStatus) -> (&'static str, String) {
    let date = escape_html(&day.date);
    let Some(uptime) = day.uptime else { return ("none", format!("{date}: not probed")) };
    let class = match uptime {
        good if good >= 99.9 => "good",
        poor if poor >= 95.0 => "poor",
        _ => "bad",
    };
    (class, format!("{date}: {uptime} %"))
}

fn incident_of(incident: &StatusIncident) -> String {
    let end = incident.resolved_at.map(|end| format!("until {}", minute(end)));
    let end = end.unwrap_or_else(|| "it goes on".to_owned());
    let title = escape_html(&incident.title);
    format!("<p><b>{title}</b>, from {}, {end}</p>", minute(incident.started_at))
}

fn backlog_of(backlog: &JobBacklog) -> String {
    let JobBacklog { pending, overdue, oldest_seconds } = backlog;
    format!(
        "<h2>Jobs</h2><p>{pending} are due, {overdue} of them for more than a minute; the oldest for \
         {oldest_seconds} s.</p>"
    )
}

/// A time to the minute, in UTC.
fn minute(at: Time) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
}

fn word(state: ServiceState) -> &'static str {
    match state {
        ServiceState::Operational => "Operational",
        ServiceState::Degraded => "Degraded",
        ServiceState::Outage => "Outage",
    }
}
