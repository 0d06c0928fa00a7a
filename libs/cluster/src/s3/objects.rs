//! Files of an operator's in a bucket: archives, which are far longer than segments.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use object_store::{Error, MultipartUpload, ObjectStore as _, ObjectStoreExt as _};

use super::{SegmentError, SegmentOptions, Segments};

/// The length of a part of an upload, in bytes; S3 wants 5 MiB at least.
const PART_BYTES: usize = 8 << 20;

/// The objects under a prefix.
pub struct Objects(Segments);

impl Objects {
    /// Makes the client of a place, by its URL; asks nothing of the server.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] says what is wrong with the URL.
    pub fn open(url: &str) -> Result<Self, SegmentError> {
        Segments::open(&SegmentOptions { url: url.to_owned() }).map(Self)
    }

    /// The names of what is right under the prefix.
    ///
    /// # Errors
    ///
    /// When the server does not list them.
    pub async fn names(&self) -> Result<Vec<String>, Error> {
        let prefix = self.0.path("");
        let found = self.0.store.list_with_delimiter(Some(&prefix)).await?;
        let names = found.objects.iter().filter_map(|object| object.location.filename());
        Ok(names.map(str::to_owned).collect())
    }

    /// The length of an object in bytes; `None` when it is not there.
    ///
    /// # Errors
    ///
    /// When the server does not tell.
    pub async fn size(&self, name: &str) -> Result<Option<u64>, Error> {
        match self.0.store.head(&self.0.path(name)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads part of an object.
    ///
    /// # Errors
    ///
    /// When the server does not give it.
    pub async fn read(&self, name: &str, range: Range<u64>) -> Result<Bytes, Error> {
        self.0.store.get_range(&self.0.path(name), range).await
    }

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// When the server does not do it.
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        self.0.store.delete(&self.0.path(name)).await
    }

    /// Begins an object that is there when it is whole.
    ///
    /// # Errors
    ///
    /// When the server takes none.
    pub async fn upload(&self, name: &str) -> Result<Upload, Error> {
        let parts = self.0.store.put_multipart(&self.0.path(name)).await?;
        Ok(Upload { parts: Some(parts), waiting: BytesMut::new() })
    }
}

/// An object that is being written. One that is dropped before it is whole is given up.
pub struct Upload {
    parts: Option<Box<dyn MultipartUpload>>,
    waiting: BytesMut,
}

impl Upload {
    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// When the server does not take them.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.waiting.extend_from_slice(&bytes);
        while self.waiting.len() >= PART_BYTES {
            let part = self.waiting.split_to(PART_BYTES).freeze();
            self.part(part).await?;
        }
        Ok(())
    }

    /// Makes the object known.
    ///
    /// # Errors
    ///
    /// When the server does not do it; there is no object then.
    pub async fn finish(mut self) -> Result<(), Error> {
        let last = self.waiting.split().freeze();
        self.part(last).await?;
        if let Some(mut parts) = self.parts.take()
            && let Err(error) = parts.complete().await
        {
            self.parts = Some(parts);
            return Err(error);
        }
        Ok(())
    }

    async fn part(&mut self, bytes: Bytes) -> Result<(), Error> {
        match &mut self.parts {
            Some(parts) => parts.put_part(bytes.into()).await,
            None => Ok(()),
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(mut parts) = self.parts.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                // What stays is for the bucket's rule about unfinished uploads.
                drop(parts.abort().await);
            });
        }
    }
}
