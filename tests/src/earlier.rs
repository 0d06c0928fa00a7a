//! Installations of earlier releases, which tests/fixtures has.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Backstage, Deployment, TestClock, home::Home, is_cluster};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

/// What an earlier release left, and what must be there of it.
#[derive(Debug)]
pub struct Earlier {
    folder: PathBuf,
    /// What `trapline backup` wrote of it; `None` for the data themselves.
    archive: Option<PathBuf>,
    /// What the release itself answered, and more; tests/fixtures/README.md says what.
    pub expected: Value,
}

impl Earlier {
    /// For each release that has a fixture: its data in this mode, and its archives of both modes.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for entry in fs::read_dir(FIXTURES).unwrap() {
            let folder = entry.unwrap().path();
            for mode in ["one-process", "cluster"] {
                let Ok(text) = fs::read_to_string(folder.join(format!("{mode}.json"))) else {
                    continue;
                };
                let expected: Value = serde_json::from_str(&text).unwrap();
                let archive = folder.join(format!("{mode}-archive.tar.gz"));
                if archive.exists() {
                    let (folder, expected) = (folder.clone(), expected.clone());
                    all.push(Self { folder, archive: Some(archive), expected });
                }
                if is_cluster() == (mode == "cluster") {
                    all.push(Self { folder: folder.clone(), archive: None, expected });
                }
            }
        }
        assert!(all.iter().any(|one| one.archive.is_none()), "no data in {FIXTURES}");
        assert!(all.iter().any(|one| one.archive.is_some()), "no archives in {FIXTURES}");
        all
    }

    /// Starts this release over the data, or over what it restores of the archive, a minute after the earlier one
    /// ended, with settings of `serve`.
    pub async fn start(&self, flags: &[&str]) -> (Deployment, TestClock) {
        let folder = tempfile::Builder::new().prefix("trapline-earlier-").tempdir().unwrap();
        let made = self.expected["endedAt"].as_i64().unwrap();
        let clock = TestClock::showing(folder.path().join("clock"), made + 60);
        let home = match &self.archive {
            Some(archive) => restored(archive, &folder, &clock),
            None => self.data(&folder, &clock).await,
        };
        let key = self.expected["key"].as_str().unwrap();
        (Deployment::over(home, key, flags, folder), clock)
    }

    async fn data(&self, folder: &TempDir, clock: &TestClock) -> Home {
        if is_cluster() {
            let home = Home::cluster(folder.path()).with_clock(clock);
            self.load(&home, folder).await;
            home.run(&["migrate"]);
            return home;
        }
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        unpack(&self.folder.join("one-process.tar.gz"), &data);
        Home::embedded(&data).with_clock(clock)
    }

    /// Puts into the services what the release had in them, but for the queue's and the cache's.
    async fn load(&self, home: &Home, folder: &TempDir) {
        let backstage = Backstage::of(home).await;
        let schema = fs::read_to_string(self.folder.join("cluster.cql")).unwrap();
        backstage.create(&schema, "fixture").await;
        for line in fs::read_to_string(self.folder.join("cluster.jsonl")).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let (table, written) =
                (row["table"].as_str().unwrap(), row["written"].as_i64().unwrap());
            backstage.put_at(table, &row["row"], written, row["ttl"].as_i64()).await;
        }
        let objects = folder.path().join("objects");
        fs::create_dir(&objects).unwrap();
        unpack(&self.folder.join("cluster-objects.tar.gz"), &objects);
        for file in files(&objects) {
            let name = file.strip_prefix(&objects).unwrap().to_str().unwrap();
            backstage.put_object(name, fs::read(&file).unwrap().into()).await;
        }
    }
}

/// A new installation of this mode, with all that an archive holds.
fn restored(packed: &Path, folder: &TempDir, clock: &TestClock) -> Home {
    let archive = folder.path().join("archive.tar");
    let output = Command::new("gzip").arg("-dc").arg(packed).output().unwrap();
    assert!(output.status.success(), "gzip could not unpack {}", packed.display());
    fs::write(&archive, output.stdout).unwrap();
    let home = if is_cluster() {
        let secret = Command::new("tar").arg("-xOf").arg(&archive).arg("keys/secret.key").output();
        let secret = String::from_utf8(secret.unwrap().stdout).unwrap();
        Home::cluster(folder.path()).with_secret_key(&secret)
    } else {
        Home::embedded(&folder.path().join("data"))
    };
    let home = home.with_clock(clock);
    home.run(&["restore", "--from", archive.to_str().unwrap()]);
    home
}

/// The files in a folder and in those below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn unpack(archive: &Path, into: &Path) {
    let status = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into).status();
    assert!(status.unwrap().success(), "tar could not unpack {}", archive.display());
}
