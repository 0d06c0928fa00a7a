//! Where an installation keeps its data, as no client sees it, for tests that put there what no client
//! can (rows of another release, damaged bytes), or that must know what is gone.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use data_encoding::{BASE32HEX_NOPAD, HEXLOWER};
use futures_util::TryStreamExt as _;
use object_store::{
    ObjectMeta, ObjectStore, ObjectStoreExt as _, aws::AmazonS3Builder, path::Path,
};
use rusqlite::{Connection, params_from_iter, types::Value as SqlValue};
use scylla::client::{session::Session, session_builder::SessionBuilder};
use serde_json::Value;

use crate::home::Home;

/// The data of one installation.
#[derive(Debug)]
pub struct Backstage(Place);

#[derive(Debug)]
enum Place {
    /// The database of one process.
    File(Connection),
    /// The services of a cluster.
    Services(Box<Services>),
}

#[derive(Debug)]
struct Services {
    session: Session,
    keyspace: String,
    bucket: Arc<dyn ObjectStore>,
    /// The installation's folder of the bucket.
    folder: Path,
}

impl Backstage {
    pub(crate) async fn of(home: &Home) -> Self {
        if home.keyspace().is_empty() {
            let file = Connection::open(home.folder().join("trapline.db")).unwrap();
            return Self(Place::File(file));
        }
        let nodes = home.setting("TRAPLINE_CQL").split(',');
        // Those of all installations are thousands of tables.
        let session = SessionBuilder::new().known_nodes(nodes).fetch_schema_metadata(false);
        let session = session.build().await.unwrap();
        let (bucket, folder) = bucket(home.setting("TRAPLINE_BLOBS"));
        let keyspace = home.keyspace().to_owned();
        Self(Place::Services(Box::new(Services { session, keyspace, bucket, folder })))
    }

    /// The documents of a table's rows that have this text in a key column.
    pub async fn docs(&self, table: &str, column: &str, text: &str) -> Vec<String> {
        let filter = format!("{column} = '{}'", text.replace('\'', "''"));
        self.select(table, &filter).await
    }

    /// The documents of an inbox's rows in a table.
    pub async fn docs_of_inbox(&self, table: &str, id: &str) -> Vec<String> {
        let uuid = BASE32HEX_NOPAD.decode(id.to_ascii_uppercase().as_bytes()).unwrap();
        let hex = HEXLOWER.encode(&uuid[..16]);
        let literal = match &self.0 {
            Place::File(_) => format!("x'{hex}'"),
            Place::Services(_) => {
                let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
                parts.join("-")
            }
        };
        self.select(table, &format!("inbox_id = {literal}")).await
    }

    async fn select(&self, table: &str, filter: &str) -> Vec<String> {
        match &self.0 {
            Place::File(file) => {
                // Folders of later releases have the rest of a message's row in a table of its own.
                let doc = match file.prepare(&format!("SELECT doc FROM {table}")) {
                    Ok(_) => "doc".to_owned(),
                    Err(_) => format!("head || (SELECT doc FROM {table}_rest WHERE seq = rest)"),
                };
                let text = format!("SELECT {doc} FROM {table} WHERE {filter}");
                let mut statement = file.prepare(&text).unwrap();
                let rows = statement.query_map([], |row| row.get(0)).unwrap();
                rows.collect::<Result<_, _>>().unwrap()
            }
            Place::Services(services) => {
                let keyspace = &services.keyspace;
                let text =
                    format!("SELECT doc FROM {keyspace}.{table} WHERE {filter} ALLOW FILTERING");
                let found = services.session.query_unpaged(text, ()).await.unwrap();
                let rows = found.into_rows_result().unwrap();
                rows.rows::<(String,)>().unwrap().map(|row| row.unwrap().0).collect()
            }
        }
    }

    /// Writes a row of numbers and texts now.
    pub async fn put(&self, table: &str, row: &Value) {
        match &self.0 {
            Place::File(file) => {
                let fields = row.as_object().unwrap();
                let columns: Vec<_> = fields.keys().map(String::as_str).collect();
                let values = fields.values().map(|value| match value.as_i64() {
                    Some(number) => SqlValue::Integer(number),
                    None => SqlValue::Text(value.as_str().unwrap().to_owned()),
                });
                let marks = vec!["?"; columns.len()].join(", ");
                let columns = columns.join(", ");
                let text = format!("INSERT INTO {table} ({columns}) VALUES ({marks})");
                file.execute(&text, params_from_iter(values)).unwrap();
            }
            Place::Services(services) => services.put(table, row, "").await,
        }
    }

    /// The newest segment that holds these bytes among the last so many: its name, all of it, and where
    /// in it they are.
    pub async fn find_segment(&self, bytes: &[u8], last: u32) -> Option<(String, Bytes, usize)> {
        let place = |segment: &[u8]| segment.windows(bytes.len()).position(|part| part == bytes);
        match &self.0 {
            Place::File(file) => {
                let text = "SELECT name, bytes FROM segment_bytes ORDER BY seq DESC LIMIT ?";
                let mut statement = file.prepare(text).unwrap();
                let mut rows = statement.query([last]).unwrap();
                while let Some(row) = rows.next().unwrap() {
                    let segment: Vec<u8> = row.get(1).unwrap();
                    if let Some(at) = place(&segment) {
                        return Some((row.get(0).unwrap(), segment.into(), at));
                    }
                }
            }
            Place::Services(services) => {
                for name in services.objects().await.into_iter().rev().take(last as usize) {
                    let Some(segment) = services.object(&name).await else { continue };
                    if let Some(at) = place(&segment) {
                        return Some((name, segment, at));
                    }
                }
            }
        }
        None
    }

    /// Writes a segment's bytes over those that are there.
    pub async fn overwrite_segment(&self, name: &str, bytes: Vec<u8>) {
        match &self.0 {
            Place::File(file) => {
                let text = "UPDATE segment_bytes SET bytes = ? WHERE name = ?";
                assert_eq!(file.execute(text, (bytes, name)).unwrap(), 1);
            }
            Place::Services(services) => services.put_object(name, bytes.into()).await,
        }
    }

    /// Makes the tables of a cluster's keyspace, which is named `old` in the statements.
    pub(crate) async fn create(&self, statements: &str, old: &str) {
        let Services { session, keyspace, .. } = self.services();
        for statement in statements.split("\n\n").filter(|text| !text.trim().is_empty()) {
            let named = |text: &str, word: &str, end: &str| {
                let (from, to) = (format!("{word} {old}{end}"), format!("{word} {keyspace}{end}"));
                text.replacen(&from, &to, 1)
            };
            let statement = named(&named(statement, "KEYSPACE", " "), "TABLE", ".");
            session.query_unpaged(statement, ()).await.unwrap();
        }
    }

    /// Writes a row of a cluster as it was written at a time, in microseconds since 1970, for so many
    /// seconds.
    pub(crate) async fn put_at(&self, table: &str, row: &Value, written: i64, ttl: Option<i64>) {
        let ttl = ttl.map_or_else(String::new, |ttl| format!(" AND TTL {ttl}"));
        self.services().put(table, row, &format!("USING TIMESTAMP {written}{ttl}")).await;
    }

    /// Writes an object into a cluster's bucket.
    pub(crate) async fn put_object(&self, name: &str, bytes: Bytes) {
        self.services().put_object(name, bytes).await;
    }

    fn services(&self) -> &Services {
        match &self.0 {
            Place::Services(services) => services,
            Place::File(_) => panic!("one process has no services"),
        }
    }
}

impl Services {
    async fn put(&self, table: &str, row: &Value, using: &str) {
        let statement = format!("INSERT INTO {}.{table} JSON ? {using}", self.keyspace);
        self.session.query_unpaged(statement, (row.to_string(),)).await.unwrap();
    }

    /// The names of the installation's objects, oldest first.
    async fn objects(&self) -> Vec<String> {
        let listed = self.bucket.list(Some(&self.folder)).try_collect();
        let mut objects: Vec<ObjectMeta> = listed.await.unwrap();
        objects.sort_by_key(|object| object.last_modified);
        let name = |object: ObjectMeta| {
            let below: Vec<_> = object.location.prefix_match(&self.folder)?.collect();
            Some(Path::from_iter(below).to_string())
        };
        objects.into_iter().filter_map(name).collect()
    }

    fn place(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.folder))
    }

    /// An object's bytes; `None` when it is gone.
    async fn object(&self, name: &str) -> Option<Bytes> {
        let found = self.bucket.get(&self.place(name)).await.ok()?;
        found.bytes().await.ok()
    }

    async fn put_object(&self, name: &str, bytes: Bytes) {
        self.bucket.put(&self.place(name), bytes.into()).await.unwrap();
    }
}

/// The bucket and the folder that a setting such as `s3://bucket/folder?endpoint=…` names.
fn bucket(url: &str) -> (Arc<dyn ObjectStore>, Path) {
    let (place, query) = url.trim_start_matches("s3://").split_once('?').unwrap();
    let (name, folder) = place.split_once('/').unwrap();
    let parameters: HashMap<_, _> =
        query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let bucket = AmazonS3Builder::new()
        .with_bucket_name(name)
        .with_endpoint(parameters["endpoint"])
        .with_region(parameters["region"])
        .with_access_key_id(parameters["key"])
        .with_secret_access_key(parameters["secret"])
        .with_allow_http(true)
        .build();
    (Arc::new(bucket.unwrap()), Path::from(folder))
}
