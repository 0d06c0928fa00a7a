//! Where segments are kept, as a URL says it.

use std::{fmt, io, path::PathBuf};

use url::Url;

use crate::service_url::{PathForm, Scheme, ServiceUrl, UrlError, UserForm};

/// What the URLs of buckets look like. Credentials are parameters, since secrets have slashes.
const SCHEME: Scheme = Scheme {
    name: "s3",
    tls: None,
    is_optional: false,
    default_port: None,
    user: UserForm::Refused,
    path: PathForm::Any,
    parameters: &["endpoint", "region", "key", "secret", "ca"],
};

/// Where segments are kept.
#[derive(Clone)]
pub struct SegmentOptions {
    /// `s3://bucket/prefix?endpoint=…&region=…&key=…&secret=…&ca=…`, or `file:///folder` for a
    /// folder that every process mounts.
    ///
    /// | parameter | meaning | without it |
    /// |---|---|---|
    /// | `endpoint` | `http` or `https` URL of a server other than Amazon's; the bucket is the first part of its paths | Amazon's |
    /// | `region` | the region to sign for | `us-east-1` |
    /// | `key`, `secret` | credentials | the `AWS_*` environment, then the role of the pod or machine |
    /// | `ca` | PEM file with further roots for TLS | the system's roots |
    ///
    /// Without `key`, the `AWS_*` environment gives the region and an `https` endpoint too, where the
    /// URL does not.
    pub url: String,
}

/// Names the place, and no parameter: one of them is a secret.
impl fmt::Debug for SegmentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = Url::parse(&self.url).ok();
        let place = url.map(|url| {
            format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
        });
        f.debug_struct("SegmentOptions").field("place", &place).finish_non_exhaustive()
    }
}

/// Why segments cannot be kept there. No text repeats the URL's parameters.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The URL cannot be understood.
    #[error("the URL of the segments is wrong: {0}")]
    Url(#[from] UrlError),
    /// The file is not readable.
    #[error("the segments' CA file {path}: {source}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why it is not.
        source: io::Error,
    },
    /// The folder cannot be made.
    #[error("the segments' folder {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why it cannot.
        source: io::Error,
    },
    /// The client cannot be made of these options.
    #[error("the segments' client: {0}")]
    Client(#[from] object_store::Error),
}

/// The URL, taken apart.
#[derive(PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) enum SegmentsLocation {
    Folder(PathBuf),
    Bucket(Bucket),
}

#[derive(Default, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Bucket {
    pub(super) name: String,
    pub(super) prefix: String,
    pub(super) endpoint: Option<String>,
    pub(super) region: Option<String>,
    pub(super) credentials: Option<(String, String)>,
    pub(super) ca: Option<PathBuf>,
}

impl SegmentsLocation {
    /// Reads the URL; asks no server and makes no folder.
    pub(super) fn parse(text: &str) -> Result<Self, UrlError> {
        match text.split_once("://") {
            Some(("file", _)) => folder(text).map(Self::Folder),
            Some(("s3", _)) => bucket(text).map(Self::Bucket),
            _ => Err(UrlError::Scheme("s3:// or file://".to_owned())),
        }
    }
}

fn folder(text: &str) -> Result<PathBuf, UrlError> {
    let wrong = UrlError::Path("it must name a folder, as in file:///srv/segments");
    let Ok(url) = Url::parse(text) else { return Err(wrong) };
    if url.query_pairs().next().is_some() {
        return Err(UrlError::Parameter { number: 1, known: "none".to_owned() });
    }
    url.to_file_path().ok().filter(|path| path.parent().is_some()).ok_or(wrong)
}

fn bucket(text: &str) -> Result<Bucket, UrlError> {
    // Secrets often have a plus sign, which must not become a space.
    let text = match text.split_once('?') {
        Some((place, query)) => format!("{place}?{}", query.replace('+', "%2B")),
        None => text.to_owned(),
    };
    let url = ServiceUrl::parse(&text, &SCHEME)?;
    let credentials = match (url.text("key"), url.text("secret")) {
        (Some(key), Some(secret)) => Some((key.to_owned(), secret.to_owned())),
        (None, None) => None,
        _ => return Err(UrlError::Together("key and secret go together")),
    };
    Ok(Bucket {
        name: url.hosts.first().map(|bucket| bucket.name.clone()).unwrap_or_default(),
        prefix: prefix(&url.path),
        endpoint: url.read("endpoint", "an http:// or https:// URL", endpoint)?,
        region: url.text("region").map(str::to_owned),
        credentials,
        ca: url.file("ca")?,
    })
}

/// The prefix of a path, in the form in which URLs have it: percent-encoded, without `.` and `..`.
fn prefix(path: &str) -> String {
    let url = Url::parse(&format!("s3://bucket/{path}"));
    let path = url.map_or_else(|_| path.to_owned(), |url| url.path().to_owned());
    path.trim_matches('/').to_owned()
}

fn endpoint(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    (plain && matches!(url.scheme(), "http" | "https")).then(|| text.to_owned())
}
