use tokio::sync::Semaphore;

use super::*;

#[tokio::test]
async fn upkeep_goes_on_while_nobody_reads_the_metrics() {
    let rounds = Semaphore::new(0);
    let work = regularly(Duration::from_millis(1), || rounds.add_permits(1));
    tokio::select! {
        () = work => {}
        three = rounds.acquire_many(3) => assert!(three.is_ok()),
    }
}
