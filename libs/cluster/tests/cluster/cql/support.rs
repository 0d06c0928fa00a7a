//! A store on the server under test.

use tokio::sync::OnceCell;
use trapline_cluster::cql::{CqlOptions, CqlStore};
use trapline_store::Clock;

/// The keyspace of all tests whose rows have ids of their own.
pub(crate) const KEYSPACE: &str = "trapline_cql_suite";

/// The server's address.
pub(crate) fn address() -> String {
    std::env::var("TRAPLINE_TEST_CQL").expect("TRAPLINE_TEST_CQL: the address of a CQL server")
}

/// Options for a keyspace.
pub(crate) fn options(keyspace: &str, clock: Clock) -> CqlOptions {
    CqlOptions { url: address(), keyspace: keyspace.to_owned(), clock, create: true }
}

/// A store in the common keyspace.
pub(crate) async fn store(clock: Clock) -> CqlStore {
    static CREATED: OnceCell<()> = OnceCell::const_new();
    let options = options(KEYSPACE, clock);
    CREATED.get_or_init(async || CqlStore::migrate(&options, &[]).await.expect("a keyspace")).await;
    CqlStore::connect(&options).await.expect("a store")
}
