//! The limiter's decisions are those of the one in memory.

use std::time::Duration;

use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_model::Time;
use trapline_store::{Clock, Rate};

use super::servers::{Server, connect};

/// A simple sequence of odd numbers (a linear congruential generator, Knuth's constants).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

#[tokio::test]
async fn decisions_are_those_of_the_embedded_limiter() {
    let (server, folder) = (Server::start(), TempDir::new().unwrap());
    let clock = Clock::manual(Time::from_millis(1_790_000_000_123));
    let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
    let embedded = Embedded::open(options).await.unwrap().ports().limiter;
    let limiter = connect(&server.url(), clock.clone()).await.limiter();
    let rates = [(1, 60_000), (3, 60_000), (7, 100_000), (1000, 33_333), (600, 86_400_000)]
        .map(|(burst, millis)| Rate { burst, per: Duration::from_millis(millis) });
    let mut numbers = Numbers(1);
    for step in 0..4000 {
        let pick = usize::try_from(numbers.below(5)).unwrap();
        let (key, rate) = (pick.to_string(), rates[pick]);
        let theirs = limiter.take(&key, rate).await.unwrap();
        assert_eq!(theirs, embedded.take(&key, rate).await.unwrap(), "{step}: {rate:?}");
        let wait = if numbers.below(50) == 0 { 70_000 } else { numbers.below(500) };
        clock.advance(Duration::from_millis(wait));
    }
}
