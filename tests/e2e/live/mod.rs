//! Waits and event streams.

mod output;
mod repeats;
mod shutdown;
mod streams;
mod waits;

use trapline_tests::{Deployment, Rest};

/// A number that the API's processes count, over all of them. The server has the metrics token
/// `metrics`.
async fn counted(server: &Deployment, metric: &str) -> u64 {
    let mut sum = 0;
    for address in server.api() {
        let metrics = Rest::new(&address, Some("metrics")).get("/api/metrics").await.expect(200);
        let line = metrics.text().lines().find_map(|line| line.strip_prefix(metric));
        sum += line.map_or(0, |number| number.trim().parse::<u64>().unwrap());
    }
    sum
}
