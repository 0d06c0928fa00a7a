//! Backups that fail half-way: a full disk, a place that goes away, a kill, a turn of the schedule. The last
//! archives stay, and no half one is taken for a whole.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    process::Command,
    time::Duration,
};

use rustix::fs::OFlags;
use tempfile::TempDir;
use trapline_tests::{Deployment, Mail, command, deliver, eventually, is_cluster};

use super::{backed_up, bucket::BrokenBucket, furnish, text};
use crate::full_disk::SmallDisk;

/// A name of archives that is newer than every other.
const NEWEST: &str = "trapline-20990101T000000.000Z.tar";

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_whole(server: &Deployment, folder: &Path, name: &str) {
    let told = server.command(&["verify", "--from", &text(folder)]);
    assert!(told.contains(&format!("{name} is whole")), "{told}");
}

/// Fills a disk but for so many bytes.
fn fill(disk: &Path, but: u64) {
    let mut ballast = File::create(disk.join("ballast")).unwrap();
    let error = loop {
        if let Err(error) = ballast.write_all(&[0; 4096]) {
            break error;
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    ballast.set_len(ballast.metadata().unwrap().len() - but).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_named_and_the_last_archive_stays() {
    let Some(disk) = SmallDisk::new() else { return };
    let (server, place) = (Deployment::start(), disk.path().join("archives"));
    deliver(&server, &server.rest().inbox().await, &Mail::new("one", "x")).await;
    let backup = ["backup", "--to", &text(&place)];
    server.command(&backup);
    let whole = names(&place);
    let [first] = &whole[..] else { panic!("{whole:?}") };
    let size = fs::metadata(place.join(first)).unwrap().len();
    fill(&disk.path(), size / 2);
    let told = server.refused_command(&backup);
    assert!(told.contains(&format!("{}/trapline-", text(&place))), "{told}");
    let why = ".tar: the archive cannot be written: No space left on device (os error 28)";
    assert!(told.ends_with(why), "{told}");
    assert_eq!(names(&place), whole);
    is_whole(&server, &place, first);
    fs::remove_file(disk.path().join("ballast")).unwrap();
    server.command(&backup);
    assert_eq!(names(&place).len(), 2);
    is_whole(&server, &place, &names(&place)[1]);
}

/// Whoever backs up must not take what mail needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_data_folder_without_room_for_a_copy_is_named_first() {
    let Some(disk) = SmallDisk::new() else { return };
    let server = Deployment::in_folder(&disk.path(), &[]);
    let elsewhere = TempDir::new().unwrap();
    let told = server.refused_command(&["backup", "--to", &text(elsewhere.path())]);
    assert!(
        told.contains("the disk of the data folder has ") && told.contains("Free some"),
        "{told}"
    );
    assert_eq!(names(elsewhere.path()), Vec::<String>::new());
    let left = names(server.folder());
    assert!(!left.iter().any(|name| name.starts_with("snapshot-")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_goes_away_is_named_and_has_no_half_archive() {
    let (bucket, address) = BrokenBucket::listen();
    let server = Deployment::alone(&[]);
    let place =
        format!("s3://mail/backups?endpoint=http://{address}&key=test&secret=no-such-secret");
    let told = server.refused_command(&["backup", "--to", &place]);
    assert!(told.contains("s3://mail/backups/trapline-"), "{told}");
    assert!(told.contains(".tar: the archive cannot be written: "), "{told}");
    let said = told.split_once("]: ").unwrap().1;
    assert!(!said.contains("no-such-secret"), "{said}");
    let requests = bucket.requests();
    let [begun, parts @ ..] = &requests[..] else { panic!("nothing was asked") };
    assert!(
        begun.starts_with("POST /mail/backups/trapline-") && begun.contains("?uploads"),
        "{begun}"
    );
    assert!(parts.iter().any(|part| part.starts_with("PUT ")), "{requests:?}");
    assert!(!parts.iter().any(|part| part.starts_with("POST ")), "{requests:?}");
}

/// A pipe stands where the half file would be: how much of it is written is known, and no more is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_is_killed_half_way_leaves_the_last_archive() {
    if is_cluster() {
        println!("skipped: the lease of a killed backup keeps the next one away for two minutes");
        return;
    }
    let (folder, server) = (TempDir::new().unwrap(), Deployment::start());
    let known = furnish(&server).await;
    let (whole, _) = backed_up(&server, &known, (folder.path(), "a")).await;
    let half = folder.path().join(NEWEST);
    let pipe = half.with_extension("tar.part");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reader = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(&pipe)
        .unwrap();
    let mut backup = command(server.folder());
    let mut backup = backup.args(["backup", "--to", &text(&half)]).spawn().unwrap();
    let mut beginning = [0; 4096];
    eventually("the beginning of an archive", async || {
        reader.read(&mut beginning).ok().filter(|read| *read > 0)
    })
    .await;
    assert!(beginning.starts_with(b"archive.json\0"));
    assert!(backup.try_wait().unwrap().is_none(), "there is more than a pipe takes");
    backup.kill().unwrap();
    backup.wait().unwrap();
    let last = whole.file_name().unwrap().to_str().unwrap();
    assert_eq!(names(folder.path()), [last, &format!("{NEWEST}.part")]);
    is_whole(&server, folder.path(), last);
    let told = server.command(&["backup", "--to", &text(folder.path())]);
    assert!(told.contains(" is written: "), "{told}");
    assert_eq!(names(folder.path()).len(), 3);
}

/// The archives of a schedule are removed for newer ones only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_fails_removes_no_archive() {
    if is_cluster() {
        println!("skipped: a cluster is backed up by a command");
        return;
    }
    let folder = TempDir::new().unwrap();
    let [place, away] = ["backups", "away"].map(|name| folder.path().join(name));
    let token = "a-token-for-the-metrics";
    let to = ["--metrics-token", token, "--backup-to", &text(&place)];
    let flags = [&to[..], &["--backup-every", "1h", "--backup-keep", "2"]].concat();
    let (server, clock) = Deployment::with_clock(&flags);
    let turns = async |outcome: &str, wanted: usize| {
        let line = format!("trapline_backups_total{{outcome=\"{outcome}\"}} {wanted}");
        eventually(&line, async || {
            let metrics = server.client(token).get("/api/metrics").await.expect(200);
            metrics.text().lines().any(|found| found == line).then_some(())
        })
        .await;
    };
    turns("ok", 1).await;
    for made in [2, 3] {
        clock.jump(Duration::from_mins(61));
        turns("ok", made).await;
    }
    let kept = names(&place);
    assert_eq!(kept.len(), 2);
    // The disk of the archives is gone, and something else is in its place.
    fs::rename(&place, &away).unwrap();
    fs::write(&place, "in the way").unwrap();
    for failed in [1, 2] {
        clock.jump(Duration::from_mins(61));
        turns("failed", failed).await;
    }
    let log = server.log();
    assert!(
        log.contains("a backup failed, and is tried again: cannot write ")
            && log.contains(&text(&place)),
        "{log}"
    );
    assert_eq!(names(&away), kept);
    fs::remove_file(&place).unwrap();
    fs::rename(&away, &place).unwrap();
    clock.jump(Duration::from_mins(11));
    turns("ok", 4).await;
    let now = names(&place);
    assert_eq!((now.len(), &now[0]), (2, &kept[1]));
    is_whole(&server, &place, &now[1]);
}
