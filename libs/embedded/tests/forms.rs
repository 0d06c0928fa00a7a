//! Tables whose documents have heads, in new folders and in those of releases that did not split them.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{path::Path, time::Duration};

use proptest::prelude::*;
use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_model::Time;
use trapline_store::{
    Clock, Column, Key, Kind, Narrowed, Op, Order, Row, Scan, Storage, Table, Value, When, Writes,
};

static HEADED: Table = Table {
    name: "notes",
    partition: &[Column { name: "group", kind: Kind::Int }],
    sort: &[Column { name: "number", kind: Kind::Int }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Headed { rest: "|" },
    ..Table::PLAIN
};

/// As releases knew it that had no heads.
static WHOLE: Table = Table {
    name: "notes",
    partition: &[Column { name: "group", kind: Kind::Int }],
    sort: &[Column { name: "number", kind: Kind::Int }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

async fn open(folder: &Path, table: &'static Table) -> Embedded {
    let clock = Clock::manual(Time::from_millis(1_790_000_000_000));
    let embedded = Embedded::open(Options { clock, ..Options::new(folder) }).await.unwrap();
    embedded.ports().store.prepare(&[table]).await.unwrap();
    embedded
}

fn key(table: &'static Table, number: i64) -> Key {
    Key { table, partition: vec![Value::Int(1)], sort: vec![Value::Int(number)] }
}

fn put(table: &'static Table, number: i64, doc: &str, ttl: Option<Duration>) -> Op {
    Op::Put { key: key(table, number), doc: doc.to_owned(), ttl, when: When::Always }
}

fn all(table: &'static Table) -> Scan {
    let partition = vec![Value::Int(1)];
    Scan::of(table, partition, 1_000)
}

fn docs(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.doc.as_str()).collect()
}

async fn narrow(embedded: &Embedded, texts: &[&str], most: usize) -> Narrowed {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    embedded.ports().store.narrow(all(&HEADED), texts, most).await.unwrap()
}

#[tokio::test]
async fn a_folder_of_an_earlier_release_goes_on_as_it_is() {
    let folder = TempDir::new().unwrap();
    let before = open(folder.path(), &WHOLE).await;
    let old = vec![put(&WHOLE, 1, "one|red", None), put(&WHOLE, 2, "two|blue", None)];
    before.ports().store.write(old).await.unwrap();
    before.close().await;

    let after = open(folder.path(), &HEADED).await;
    let store = after.ports().store;
    store.write(vec![put(&HEADED, 3, "three|red", None)]).await.unwrap();
    store.write(vec![put(&HEADED, 2, "deux|bleu", None)]).await.unwrap();
    let rows = store.scan(all(&HEADED)).await.unwrap();
    assert_eq!(docs(&rows), ["three|red", "deux|bleu", "one|red"]);
    let found = narrow(&after, &["one", "three"], 10).await;
    assert_eq!((docs(&found.rows), found.seen), (vec!["three|red", "one|red"], 3));
    after.close().await;

    let again = open(folder.path(), &WHOLE).await;
    let rows = again.ports().store.scan(all(&WHOLE)).await.unwrap();
    assert_eq!(docs(&rows), ["three|red", "deux|bleu", "one|red"]);
}

#[tokio::test]
async fn what_comes_after_a_head_goes_with_it() {
    let folder = TempDir::new().unwrap();
    let embedded = open(folder.path(), &HEADED).await;
    let store = embedded.ports().store;
    let rests = || {
        let database = rusqlite::Connection::open(folder.path().join("trapline.db")).unwrap();
        let sql = "SELECT count(*) FROM notes_rest";
        database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let soon = Some(Duration::ZERO);
    let rows =
        (0..6).map(|number| put(&HEADED, number, "a|b", if number > 3 { soon } else { None }));
    store.write(rows.collect()).await.unwrap();
    assert_eq!(rests(), 6);
    store.write(vec![put(&HEADED, 3, "c|d", None)]).await.unwrap();
    assert_eq!(rests(), 6);
    assert_eq!(embedded.sweep(10).await.unwrap(), 2);
    assert_eq!(rests(), 4);
    let delete = Op::Delete { key: key(&HEADED, 3), when: When::Always };
    store.write(vec![delete]).await.unwrap();
    store.write(vec![Op::DeleteUntil { until: key(&HEADED, 1) }]).await.unwrap();
    assert_eq!((rests(), docs(&store.scan(all(&HEADED)).await.unwrap())), (1, vec!["a|b"]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// A search finds what looking at each row would find, of split rows nothing else.
    #[test]
    fn a_search_finds_the_heads_with_a_text(
        notes in proptest::collection::vec(("[ab\u{e9}\"]{0,5}", "[ab\u{e9}\"]{0,5}"), 0..40),
        texts in proptest::collection::vec("[ab\u{e9}\"]{1,2}", 0..3),
        most in 1..50_usize,
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let folder = TempDir::new().unwrap();
            let embedded = open(folder.path(), &HEADED).await;
            let numbered = (0..).zip(&notes);
            let rows = numbered.map(|(number, (head, rest))| {
                put(&HEADED, number, &format!("{head}|{rest}"), None)
            });
            embedded.ports().store.write(rows.collect()).await.unwrap();
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            let found = narrow(&embedded, &texts, most).await;
            let has = |head: &str| texts.iter().any(|text| head.contains(text));
            let mut wanted: Vec<_> = notes.iter().rev().filter(|(head, _)| has(head)).collect();
            wanted.truncate(most);
            let wanted: Vec<_> = wanted.iter().map(|(head, rest)| format!("{head}|{rest}")).collect();
            assert_eq!(docs(&found.rows), wanted);
            if wanted.len() < most {
                assert_eq!(found.seen, notes.len());
            }
        });
    }
}
