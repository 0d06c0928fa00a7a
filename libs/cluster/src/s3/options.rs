//! Where segments are kept, as a URL says it.

use std::{fmt, io, path::PathBuf};

use url::{Url, form_urlencoded};

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
    /// Not a URL at all.
    #[error("the segments' address is not a URL: {0}")]
    Url(#[from] url::ParseError),
    /// Another scheme.
    #[error("segments are kept at s3:// or file://, not {0}://")]
    Scheme(String),
    /// `s3://` without a bucket.
    #[error("the segments' address names no bucket, as in s3://bucket/prefix")]
    Bucket,
    /// `file://` without an absolute path.
    #[error("the segments' address names no folder, as in file:///srv/segments")]
    Path,
    /// Credentials where browsers put them.
    #[error("credentials for segments go into the parameters `key` and `secret`")]
    UserInfo,
    /// A parameter that nobody knows, or one that is there twice.
    #[error("the segments' address has an unknown or repeated parameter `{0}`")]
    Parameter(String),
    /// One of two.
    #[error("the segments' address has only one of `key` and `secret`")]
    HalfCredentials,
    /// Not a URL, or of another scheme than HTTP.
    #[error("the segments' endpoint is not an http:// or https:// URL")]
    Endpoint,
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
pub(super) enum Place {
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

impl Place {
    pub(super) fn parse(text: &str) -> Result<Self, SegmentError> {
        let url = Url::parse(text)?;
        match url.scheme() {
            "file" => folder(&url).map(Self::Folder),
            "s3" => bucket(&url).map(Self::Bucket),
            scheme => Err(SegmentError::Scheme(scheme.to_owned())),
        }
    }
}

fn folder(url: &Url) -> Result<PathBuf, SegmentError> {
    if let Some((name, _)) = url.query_pairs().next() {
        return Err(SegmentError::Parameter(name.into_owned()));
    }
    url.to_file_path().ok().filter(|path| path.parent().is_some()).ok_or(SegmentError::Path)
}

fn bucket(url: &Url) -> Result<Bucket, SegmentError> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SegmentError::UserInfo);
    }
    let name = url.host_str().filter(|name| !name.is_empty()).ok_or(SegmentError::Bucket)?;
    let prefix = url.path().trim_matches('/');
    let mut bucket =
        Bucket { name: name.to_owned(), prefix: prefix.to_owned(), ..Bucket::default() };
    let (mut key, mut secret) = (None, None);
    // Secrets often have a plus sign, which must not become a space.
    let query = url.query().unwrap_or_default().replace('+', "%2B");
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = value.into_owned();
        let earlier = match &*name {
            "endpoint" => bucket.endpoint.replace(endpoint(value)?).is_some(),
            "region" => bucket.region.replace(value).is_some(),
            "key" => key.replace(value).is_some(),
            "secret" => secret.replace(value).is_some(),
            "ca" => bucket.ca.replace(value.into()).is_some(),
            _ => true,
        };
        if earlier {
            return Err(SegmentError::Parameter(name.into_owned()));
        }
    }
    bucket.credentials = match (key, secret) {
        (Some(key), Some(secret)) => Some((key, secret)),
        (None, None) => None,
        _ => return Err(SegmentError::HalfCredentials),
    };
    Ok(bucket)
}

fn endpoint(text: String) -> Result<String, SegmentError> {
    let url = Url::parse(&text).map_err(|_| SegmentError::Endpoint)?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if plain && matches!(url.scheme(), "http" | "https") {
        Ok(text)
    } else {
        Err(SegmentError::Endpoint)
    }
}
