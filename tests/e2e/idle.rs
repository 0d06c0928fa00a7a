//! What an installation asks its store for while nobody asks it for anything.

use std::time::Duration;

use trapline_tests::{Deployment, Rest};

const TOKEN: &str = "metrics-of-the-idle";
/// What a start takes, and then a while in which the janitor looks at every queue.
const START: Duration = Duration::from_secs(10);
const WHILE: Duration = Duration::from_secs(20);
/// What a process may ask in that while: half of the shards are a worker's, of which it reads the last minutes anew where
/// they were another's before.
const CALLS: f64 = 1_000.0;

/// How often each process called the store so far.
async fn calls(server: &Deployment) -> Vec<f64> {
    let mut all = Vec::new();
    for address in server.probes() {
        let metrics = Rest::new(&address, Some(TOKEN)).get("/api/metrics").await.expect(200);
        let of_store = metrics.text().lines().filter(|line| {
            line.starts_with("trapline_backend_call_seconds_count{")
                && line.contains("backend=\"store\"")
        });
        let counts = of_store.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
        all.push(counts.sum());
    }
    all
}

#[tokio::test]
async fn an_idle_process_asks_its_store_for_little() {
    let server = Deployment::alone(&["--metrics-token", TOKEN]);
    tokio::time::sleep(START).await;
    let before = calls(&server).await;
    tokio::time::sleep(WHILE).await;
    let asked: Vec<_> =
        calls(&server).await.iter().zip(&before).map(|(now, then)| now - then).collect();
    assert!(before.iter().all(|&calls| calls > 0.0), "{before:?}");
    assert!(asked.iter().all(|&calls| calls < CALLS), "{asked:?}");
}
