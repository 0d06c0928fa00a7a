//! What an orchestrator asks every process.

use trapline_tests::{Rest, guarded, is_cluster, shared};

#[tokio::test]
async fn every_process_lives_and_is_ready() {
    let server = shared();
    let probes = server.probes();
    assert_eq!(probes.len(), if is_cluster() { 6 } else { 1 });
    for address in probes {
        let rest = Rest::new(&address, None);
        assert_eq!(rest.get("/livez").await.expect(200).json()["ok"], true, "{address}");
        let report = rest.get("/readyz").await.expect(200).json();
        assert_eq!(report["ok"], true, "{address}: {report}");
        let services = report["services"].as_object().unwrap();
        assert_eq!(services.len(), if is_cluster() { 4 } else { 1 }, "{report}");
        assert!(services.values().all(|answers| answers == true), "{report}");
    }
}

#[tokio::test]
async fn a_process_without_an_api_shows_its_metrics_to_the_operator_only() {
    let server = shared();
    for address in server.probes() {
        let anonymous = Rest::new(&address, None);
        guarded("an answer", anonymous.get("/api/metrics")).await.expect(401);
    }
}
