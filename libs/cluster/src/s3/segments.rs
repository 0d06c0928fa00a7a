//! The object store that holds the segments, and putting them there.

use std::{fmt, fs, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use object_store::{
    BackoffConfig, Certificate, ClientOptions, Error, ObjectStore, ObjectStoreExt as _, PutMode,
    RetryConfig,
    aws::{AmazonS3Builder, S3ConditionalPut},
    local::LocalFileSystem,
    path::Path,
};
use tokio::time::{sleep, timeout};
use trapline_store::{PortError, Result};

use super::{
    failure::{is_absent, is_passing, port_error},
    meters::S3Meters,
    options::{Bucket, SegmentError, SegmentOptions, SegmentsLocation},
};

/// The longest that a put takes, retries included.
const PUT_WITHIN: Duration = Duration::from_secs(10);
/// The longest that any other call takes, retries included.
const CALL_WITHIN: Duration = Duration::from_secs(5);
/// The longest that one request takes: a whole segment of 8 MiB at 15 Mbit/s.
const REQUEST_WITHIN: Duration = Duration::from_millis(4_500);
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// The client gives up on what it may repeat by itself after so long.
const RETRY_WITHIN: Duration = Duration::from_secs(3);
const RETRIES: usize = 3;
const BACKOFF: BackoffConfig = BackoffConfig {
    init_backoff: Duration::from_millis(100),
    max_backoff: Duration::from_secs(1),
    base: 2.0,
};
/// How often a put is begun.
const PUTS: u32 = 2;
const BETWEEN_PUTS: Duration = Duration::from_millis(200);

/// Segments in an object store.
pub struct Segments {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) meters: S3Meters,
    prefix: String,
    folder: Option<PathBuf>,
}

/// Names the place; the client's own text has no secrets.
impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Segments({}, {:?})", self.store, self.prefix)
    }
}

impl Segments {
    /// Makes the client; asks nothing of the server, see [`Segments::ping`]. A folder is created.
    pub fn open(options: &SegmentOptions) -> Result<Self, SegmentError> {
        let meters = S3Meters::new();
        Ok(match SegmentsLocation::parse(&options.url)? {
            SegmentsLocation::Folder(folder) => {
                let store = Arc::new(local(&folder)?);
                Self { store, meters, prefix: String::new(), folder: Some(folder) }
            }
            SegmentsLocation::Bucket(bucket) => {
                let store = Arc::new(client(&bucket)?);
                Self { store, meters, prefix: bucket.prefix, folder: None }
            }
        })
    }

    /// Whether the bucket or folder is there and may be read. Costs one request for an object
    /// that does not exist.
    pub async fn ping(&self) -> Result<()> {
        if let Some(folder) = &self.folder {
            let found = self.within(CALL_WITHIN, tokio::fs::metadata(folder)).await?;
            return found.map(drop).map_err(|error| self.failed(PortError::unavailable(error)));
        }
        self.meters.get.increment(1);
        let path = self.path("ping");
        match self.within(CALL_WITHIN, self.store.get(&path)).await? {
            Err(error) if !is_absent(&error) => Err(self.failed(port_error(error))),
            _ => Ok(()),
        }
    }

    /// Stores a segment, durably, under a name that nothing else has.
    ///
    /// An earlier try of this call, whose answer was lost, may have stored it already; that is a
    /// success when the bytes are the same, and [`PortError::Conflict`] when they are not. After
    /// another error the segment may be there or still come.
    pub async fn put(&self, name: &str, bytes: Bytes) -> Result<()> {
        let path = self.path(name);
        let outcome = self.within(PUT_WITHIN, self.create(&path, &bytes)).await?;
        outcome.map_err(|error| self.failed(port_error(error)))
    }

    async fn create(&self, path: &Path, bytes: &Bytes) -> Result<(), Error> {
        let mut begun = 0;
        loop {
            begun += 1;
            self.meters.put.increment(1);
            let put = self.store.put_opts(path, bytes.clone().into(), PutMode::Create.into());
            let Err(error) = put.await else { return Ok(()) };
            let there = matches!(error, Error::AlreadyExists { .. });
            if there && self.holds(path, bytes).await? {
                return Ok(());
            }
            if begun == PUTS || !is_passing(&error) {
                return Err(error);
            }
            sleep(BETWEEN_PUTS).await;
        }
    }

    async fn holds(&self, path: &Path, bytes: &Bytes) -> Result<bool, Error> {
        self.meters.get.increment(1);
        match self.store.get(path).await {
            // A conditional put that met another one in flight is refused too (409).
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(error),
            Ok(found) => Ok(found.bytes().await? == bytes),
        }
    }

    pub(super) fn path(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.prefix))
    }

    /// Bounds a call that is no put.
    pub(super) async fn call<T>(&self, call: impl Future<Output = T>) -> Result<T> {
        self.within(CALL_WITHIN, call).await
    }

    async fn within<T>(&self, longest: Duration, call: impl Future<Output = T>) -> Result<T> {
        timeout(longest, call).await.map_err(|_| self.failed(PortError::Timeout))
    }

    pub(super) fn failed(&self, error: PortError) -> PortError {
        self.meters.errors.increment(1);
        error
    }
}

fn local(folder: &PathBuf) -> Result<LocalFileSystem, SegmentError> {
    let made = fs::create_dir_all(folder);
    made.map_err(|source| SegmentError::Folder { path: folder.clone(), source })?;
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true))
}

fn client(bucket: &Bucket) -> Result<impl ObjectStore, SegmentError> {
    let mut builder = match &bucket.credentials {
        // The environment's session token, if any, belongs to the environment's key.
        Some((key, secret)) => {
            AmazonS3Builder::new().with_access_key_id(key).with_secret_access_key(secret)
        }
        None => AmazonS3Builder::from_env(),
    };
    if let Some(region) = &bucket.region {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    let retry = RetryConfig { backoff: BACKOFF, max_retries: RETRIES, retry_timeout: RETRY_WITHIN };
    Ok(builder
        .with_bucket_name(&bucket.name)
        .with_client_options(http(bucket)?)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        // Not every server of this protocol has the request that deletes many at once.
        .with_disable_bulk_delete(true)
        .with_retry(retry)
        .build()?)
}

fn http(bucket: &Bucket) -> Result<ClientOptions, SegmentError> {
    let plain = bucket.endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
    let mut options = ClientOptions::new()
        .with_allow_http(plain)
        .with_connect_timeout(CONNECT_WITHIN)
        .with_timeout(REQUEST_WITHIN);
    if let Some(path) = &bucket.ca {
        let pem = fs::read(path);
        let pem = pem.map_err(|source| SegmentError::CaFile { path: path.clone(), source })?;
        for root in Certificate::from_pem_bundle(&pem)? {
            options = options.with_root_certificate(root);
        }
    }
    Ok(options)
}
