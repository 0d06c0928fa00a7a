//! The adapters of a cluster, where this executable was built with them (the feature `cluster`).

#[cfg(not(feature = "cluster"))]
mod absent;

#[cfg(not(feature = "cluster"))]
pub(crate) use absent::{
    Cluster, NoObjects as Objects, NoUpload as Upload, Options, Service, check_url, is_namespace,
};
#[cfg(feature = "cluster")]
pub(crate) use trapline_cluster::s3::{Objects, Upload};
#[cfg(feature = "cluster")]
pub(crate) use trapline_cluster::{Cluster, Options, Service, check_url, is_namespace};
