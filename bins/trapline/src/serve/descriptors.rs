//! File descriptors: each connection needs one, and HTTP must leave some to SMTP.

use rustix::process::{Resource, Rlimit};
use trapline_smtp::Limits as Smtp;

use crate::http::Limits as Http;

/// Descriptors for everything but connections: the database, the services of a cluster, webhooks.
const OTHERS: usize = 512;
/// Connections that each listener may have however few descriptors there are.
const LEAST: usize = 16;

/// Many systems allow only 1,024 until a process asks. Returns how many this process may have.
pub(super) fn allow_many() -> usize {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = rustix::process::setrlimit(Resource::Nofile, wanted) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    let current = rustix::process::getrlimit(Resource::Nofile).current;
    current.map_or(usize::MAX, |current| usize::try_from(current).unwrap_or(usize::MAX))
}

/// Lowers the bounds on connections until all of them have descriptors: both in proportion, so that
/// neither listener can take what the other one needs.
pub(super) fn share(descriptors: usize, http: &mut Http, smtp: Option<&mut Smtp>) {
    let wanted = http.connections + smtp.as_ref().map_or(0, |smtp| smtp.connections);
    let free = descriptors.saturating_sub(OTHERS.min(descriptors / 2));
    if wanted <= free {
        return;
    }
    let fair = |connections: usize| {
        let share = connections as u128 * free as u128 / wanted.max(1) as u128;
        usize::try_from(share).unwrap_or(usize::MAX).max(LEAST).min(connections)
    };
    let fair_http = fair(http.connections);
    http.per_address = http.per_address.min(fair_http - fair_http / 5);
    http.connections = fair_http;
    if let Some(smtp) = smtp {
        smtp.connections = fair(smtp.connections);
    }
    tracing::warn!(
        descriptors,
        wanted,
        http = http.connections,
        "the limit of open files (ulimit -n) allows fewer connections than the settings"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(descriptors: usize) -> (usize, usize, usize) {
        let mut http = Http { connections: 25_000, per_address: 20_000, ..Http::default() };
        let mut smtp = Smtp { connections: 10_000, ..Smtp::default() };
        share(descriptors, &mut http, Some(&mut smtp));
        (http.connections, http.per_address, smtp.connections)
    }

    #[test]
    fn enough_descriptors_change_nothing() {
        assert_eq!(shared(usize::MAX), (25_000, 20_000, 10_000));
        assert_eq!(shared(35_512), (25_000, 20_000, 10_000));
    }

    #[test]
    fn too_few_are_shared_and_no_address_gets_all() {
        assert_eq!(shared(7_512), (5_000, 4_000, 2_000));
        for descriptors in [64, 256, 1_024, 4_096, 20_000] {
            let (http, per_address, smtp) = shared(descriptors);
            assert!(http + smtp <= descriptors, "{descriptors}: {http} + {smtp}");
            assert!(per_address < http && smtp > 0, "{descriptors}: {per_address} of {http}");
        }
    }
}
