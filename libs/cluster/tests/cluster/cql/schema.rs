use std::{collections::HashMap, process, time::Duration};

use futures_util::future::join_all;
use trapline_cluster::cql::{CqlError, CqlOptions, CqlStore};
use trapline_store::{Clock, PortError, Storage, Store, Table};

use super::support::{KEYSPACE, options, store};
use super::{ITEMS, TABLES, create, fresh, guarded, raw};

/// A keyspace that only this test uses; removed when it has passed.
fn own(test: &str, create: bool) -> CqlOptions {
    let keyspace = format!("trapline_{test}_{}", process::id());
    CqlOptions { create, ..options(&keyspace, Clock::system()) }
}

async fn dropped(options: &CqlOptions) {
    let text = format!("DROP KEYSPACE IF EXISTS {}", options.keyspace);
    raw().await.query_unpaged(text, ()).await.unwrap();
}

fn told(answer: Result<(), PortError>) -> String {
    match answer {
        Err(PortError::Unavailable(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_works_before_migrate() {
    let options = own("before", false);
    let refused = CqlStore::connect(&options).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        format!("the CQL keyspace {} does not exist: run `trapline migrate`", options.keyspace)
    );
    CqlStore::migrate(&options, &[]).await.unwrap();
    let store = CqlStore::connect(&options).await.unwrap();
    let table = format!("the CQL table {}.live_items ", options.keyspace);
    let missing = format!("{table}does not exist: run `trapline migrate`");
    assert_eq!(told(store.prepare(&TABLES).await), missing);

    let session = raw().await;
    let other = "(owner uuid, item text, doc text, version bigint, expires bigint, \
                 PRIMARY KEY (owner, item))";
    let text = format!("CREATE TABLE {}.live_items {other}", options.keyspace);
    session.query_unpaged(text, ()).await.unwrap();
    let differs = format!("{table}has no clustering column item uuid: run `trapline migrate`");
    assert_eq!(told(store.prepare(&TABLES).await), differs);
    let again = CqlStore::migrate(&options, &[&ITEMS]).await;
    assert!(matches!(again, Err(CqlError::Table { .. })), "{again:?}");
    dropped(&options).await;
}

#[tokio::test]
async fn migrations_at_once_and_again() {
    let options = own("migrations", false);
    for _ in 0..2 {
        let at_once = join_all((0..4).map(|_| CqlStore::migrate(&options, &TABLES))).await;
        for migrated in at_once {
            migrated.unwrap();
        }
    }
    let store = CqlStore::connect(&options).await.unwrap();
    store.prepare(&TABLES).await.unwrap();
    store.write(vec![create(guarded(fresh(), "a"), "{}")]).await.unwrap();
    dropped(&options).await;
}

/// The options of a table that an earlier release, or an operator, made otherwise.
#[tokio::test]
async fn migrate_gives_tables_that_are_there_their_options() {
    static LOG: Table = Table {
        storage: Storage::Log { window: Duration::from_hours(2), ttl: Duration::from_hours(48) },
        ..ITEMS
    };
    let options = own("options", false);
    CqlStore::migrate(&options, &[&ITEMS]).await.unwrap();
    let session = raw().await;
    let shown = async || {
        let text = "SELECT compaction, default_time_to_live, gc_grace_seconds \
                    FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'live_items'";
        let rows = session.query_unpaged(text, (&options.keyspace,)).await.unwrap();
        let rows = rows.into_rows_result().unwrap();
        rows.first_row::<(HashMap<String, String>, i32, i32)>().unwrap()
    };
    let (as_rows, ttl, _) = shown().await;
    assert!(as_rows["class"].ends_with("LeveledCompactionStrategy"), "{as_rows:?}");
    assert_eq!(ttl, 0);
    for _ in 0..2 {
        CqlStore::migrate(&options, &[&LOG]).await.unwrap();
        let (as_log, ttl, gc_grace) = shown().await;
        assert!(as_log["class"].ends_with("TimeWindowCompactionStrategy"), "{as_log:?}");
        assert_eq!(as_log["compaction_window_size"], "120", "{as_log:?}");
        assert_eq!((ttl, gc_grace), (48 * 3600, 3 * 3600));
    }
    dropped(&options).await;
}

#[tokio::test]
async fn wrong_settings_are_named() {
    let connect = async |url: String| {
        let options = CqlOptions { url, ..options(KEYSPACE, Clock::system()) };
        CqlStore::connect(&options).await.err().unwrap().to_string()
    };
    let nobody = connect("127.0.0.1:1".to_owned()).await;
    assert!(nobody.starts_with("no CQL server answers at 127.0.0.1:1: "), "{nobody}");
    let elsewhere = connect(format!("{}?dc=elsewhere", options("a", Clock::system()).url)).await;
    let expected = "the CQL cluster has no data centre \"elsewhere\", but ";
    assert!(elsewhere.starts_with(expected), "{elsewhere}");

    let many = own("many", false);
    let many = CqlOptions { url: format!("{}?replication=15", many.url), ..many };
    let refused = CqlStore::migrate(&many, &[]).await;
    assert!(matches!(refused, Err(CqlError::Replication { asked: 15, .. })), "{refused:?}");
}

#[tokio::test]
async fn tables_must_be_prepared() {
    let store = store(Clock::system()).await;
    let answer = store.write(vec![create(guarded(fresh(), "a"), "{}")]).await;
    assert!(matches!(answer, Err(PortError::Misuse(_))), "{answer:?}");
}
