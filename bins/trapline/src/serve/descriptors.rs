//! File descriptors: each connection needs one, and HTTP must leave some to SMTP.

use rustix::process::{Resource, Rlimit};
use trapline_smtp::Limits as Smtp;

use crate::http::Limits as Http;

/// Descriptors for everything but connections: the database, the services of a cluster, webhooks.
const RESERVED: usize = 512;

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

/// Lowers the bounds on connections until all of them have descriptors. HTTP gets what SMTP leaves, but
/// a quarter at least, so that neither can take what the other one needs.
pub(super) fn share(descriptors: usize, http: &mut Http, smtp: Option<&mut Smtp>) {
    let for_smtp = smtp.as_ref().map_or(0, |smtp| smtp.connections);
    let wanted = http.connections.saturating_add(for_smtp);
    let free = descriptors.saturating_sub(RESERVED.min(descriptors / 2));
    if wanted <= free {
        return;
    }
    http.connections = http.connections.min(free.saturating_sub(for_smtp).max(free / 4)).max(1);
    http.per_address = http.per_address.min(http.connections - http.connections / 5);
    if let Some(smtp) = smtp {
        smtp.connections = for_smtp.min(free.saturating_sub(http.connections));
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
        assert_eq!(shared(20_512), (10_000, 8_000, 10_000));
        assert_eq!(shared(8_512), (2_000, 1_600, 6_000));
        for descriptors in [64, 256, 1_024, 4_096, 20_000] {
            let (http, per_address, smtp) = shared(descriptors);
            assert!(http + smtp <= descriptors, "{descriptors}: {http} + {smtp}");
            assert!(per_address < http && smtp > 0, "{descriptors}: {per_address} of {http}");
        }
    }
}
