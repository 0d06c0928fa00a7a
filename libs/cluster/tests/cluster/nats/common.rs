//! What the tests of the queue share: streams of their own at the server under test.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use trapline_cluster::jetstream::JetStreamOptions;
use trapline_store::Clock;

/// The server's address.
pub(crate) fn url() -> String {
    let name = "TRAPLINE_TEST_NATS";
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set, such as to nats://127.0.0.1:4222"))
}

/// A namespace that no other test has.
pub(crate) fn namespace() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("t{}_{}_{count}", std::process::id(), Clock::system().now().millis())
}

/// Removes a test's stream, even where the test's own runtime is ending.
pub(crate) fn remove(options: &JetStreamOptions) {
    let (url, namespace) = (options.url.clone(), options.namespace.to_uppercase());
    let removal = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = async_nats::connect(url).await.unwrap();
            let context = async_nats::jetstream::new(client);
            context.delete_stream(format!("{namespace}_JOBS")).await.unwrap();
        });
    });
    // A panic while a test fails already would hide why.
    if removal.join().is_err() {
        eprintln!("the stream of {} is left behind", options.namespace);
    }
}
