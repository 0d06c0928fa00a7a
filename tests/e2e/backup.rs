//! Archives: written under load, and restored into another installation of either mode.

mod bucket;
mod damage;
mod failures;

use std::{
    collections::BTreeMap,
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use trapline_tests::{
    Deployment, Hooks, Inbox, Mail, Rest, command, deliver, eventually, is_cluster,
};

use crate::crash::{Accepted, load, mail, stored};

const SENDERS: usize = 4;
/// Messages that are answered before the backup begins.
const AT_LEAST: usize = 60;

/// What a test knows of an installation before it is backed up.
struct Known {
    inboxes: Vec<Inbox>,
    disposable: Value,
    read: String,
    deleted: String,
    webhook: Value,
    hooks: Hooks,
}

async fn furnish(server: &Deployment) -> Known {
    let rest = server.rest();
    let mut inboxes = Vec::new();
    for _ in 0..2 {
        let body = json!({ "name": "Load", "maxMessages": 10_000 });
        inboxes.push(rest.inbox_with(body).await);
    }
    let disposable = json!({ "name": "Short", "expiresInMinutes": 600 });
    let disposable = rest.post("/api/inboxes", disposable).await.expect(201).json();
    let [read, deleted] = [
        deliver(server, &inboxes[0], &Mail::new("read", "x")).await,
        deliver(server, &inboxes[0], &Mail::new("deleted", "x")).await,
    ];
    rest.patch(&format!("/api/messages/{read}"), json!({ "isRead": true })).await.expect(200);
    rest.delete(&format!("/api/messages/{deleted}")).await.expect(204);
    let (hooks, address) = Hooks::listen(Ipv4Addr::LOCALHOST);
    let webhook = json!({ "url": format!("http://{address}/"), "inboxId": disposable["id"] });
    let webhook = rest.post("/api/webhooks", webhook).await.expect(201).json();
    Known { inboxes, disposable, read, deleted, webhook, hooks }
}

/// Writes an archive while mail arrives; what was answered before it was begun.
async fn backed_up(
    server: &Deployment,
    known: &Known,
    (to, turn): (&Path, &str),
) -> (PathBuf, BTreeMap<String, String>) {
    let accepted = Accepted::default();
    let senders = (0..SENDERS).map(|sender| {
        let inbox = known.inboxes[sender % known.inboxes.len()].clone();
        tokio::spawn(load(server.smtp()[0], inbox, format!("{turn}{sender}"), accepted.clone()))
    });
    let senders: Vec<_> = senders.collect();
    eventually("accepted messages", async || {
        (accepted.lock().unwrap().len() >= AT_LEAST).then_some(())
    })
    .await;
    let before = accepted.lock().unwrap().clone();
    let told = server.command(&["backup", "--to", &text(to)]);
    senders.iter().for_each(tokio::task::JoinHandle::abort);
    drop(join_all(senders).await);
    let (file, _) = told.split_once(" is written: ").unwrap_or_else(|| panic!("{told}"));
    assert!(told.contains("It holds the key"), "{told}");
    (PathBuf::from(file), before)
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A file of an archive, as any reader of tar files has it.
fn entry(archive: &Path, name: &str) -> String {
    let output = Command::new("tar").arg("-xOf").arg(archive).arg(name).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything is there that was, and works.
async fn check(server: &Deployment, known: &Known, before: &BTreeMap<String, String>) {
    let rest = server.rest();
    let mut found = BTreeMap::new();
    for inbox in &known.inboxes {
        found.extend(stored(&rest, inbox).await);
    }
    for (token, id) in before {
        assert_eq!(found.get(token), Some(id), "{token} was answered before the backup");
        assert!(rest.raw(id).await == mail(token), "{token} is not whole");
    }
    assert_eq!(found.get("read"), Some(&known.read));
    assert_eq!(rest.message(&known.read).await["isRead"], true);
    assert_eq!(rest.get(&format!("/api/messages/{}", known.deleted)).await.status, 404);
    works(server, &rest, known).await;
}

/// Settings and secrets are as they were: credentials, keys, the webhook's secret, and the end of an inbox.
async fn works(server: &Deployment, rest: &Rest, known: &Known) {
    let path = format!("/api/inboxes/{}", known.disposable["id"].as_str().unwrap());
    let disposable = rest.get(&path).await.expect(200).json();
    for field in ["expiresAt", "name", "createdAt"] {
        assert_eq!(disposable[field], known.disposable[field], "{field}");
    }
    let hooks = rest.get("/api/webhooks").await.expect(200).json();
    assert_eq!(hooks[0]["id"], known.webhook["id"]);
    let before = known.hooks.called();
    let inbox = Inbox::of(&known.disposable);
    let id = deliver(server, &inbox, &Mail::new("after the restore", "x")).await;
    eventually("a call of the webhook", async || (known.hooks.called() > before).then_some(()))
        .await;
    let renamed = json!({ "name": "Renamed" });
    rest.patch(&path, renamed).await.expect(200);
    let listed = rest.get("/api/inboxes").await.expect(200).json();
    let names = listed.as_array().unwrap().iter().map(|inbox| inbox["name"].clone());
    assert_eq!(names.filter(|name| name == "Renamed").count(), 1);
    // As whoever restores it once more expects it.
    rest.patch(&path, json!({ "name": known.disposable["name"] })).await.expect(200);
    assert_eq!(rest.message(&id).await["subject"], "after the restore");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_is_restored_into_one_process_and_into_a_cluster() {
    let folder = TempDir::new().unwrap();
    let server = Deployment::alone(&[]);
    let known = furnish(&server).await;
    let (file, before) = backed_up(&server, &known, (folder.path(), "a")).await;
    let told = server.command(&["verify", "--from", &text(folder.path())]);
    assert!(told.contains(" is whole: Trapline ") && told.contains("with its key"), "{told}");
    let secret = entry(&file, "keys/secret.key");
    let one = restored(&file, None, &server);
    check(&one, &known, &before).await;
    if is_cluster() {
        let cluster = restored(&file, Some(&secret), &server);
        check(&cluster, &known, &before).await;
        through_a_bucket(&server, &known, &before).await;
        // And back: what one process has goes into a cluster.
        let (file, mut later) = backed_up(&one, &known, (folder.path(), "b")).await;
        later.extend(before);
        let cluster = restored(&file, Some(&secret), &one);
        check(&cluster, &known, &later).await;
    } else {
        // The SMTP authority that clients trust is the same.
        let authority = entry(&file, "keys/smtp-ca.pem");
        assert_eq!(fs::read_to_string(one.folder().join("smtp-ca.pem")).unwrap(), authority);
    }
}

/// The same, of an archive that is an object.
async fn through_a_bucket(server: &Deployment, known: &Known, before: &BTreeMap<String, String>) {
    let bucket = std::env::var("TRAPLINE_TEST_S3").unwrap();
    let (bucket, query) = bucket.split_once('?').unwrap_or((&bucket, ""));
    let place = format!("{bucket}/backups-{}?{query}", std::process::id());
    let told = server.command(&["backup", "--to", &place]);
    assert!(told.contains("/trapline-") && !told.contains('?'), "{told}");
    let told = server.command(&["verify", "--from", &place]);
    assert!(told.contains(" is whole"), "{told}");
    check(&restored(Path::new(&place), None, server), known, before).await;
}

fn restored(file: &Path, secret: Option<&str>, from: &Deployment) -> Deployment {
    Deployment::restored(&text(file), secret, from.team().key())
}

/// A backup that was killed leaves nothing that counts, and the next one takes its leftovers away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_may_be_killed() {
    if is_cluster() {
        println!("skipped: a cluster has no snapshot, and its lease ends by itself");
        return;
    }
    let (folder, server) = (TempDir::new().unwrap(), Deployment::start());
    let known = furnish(&server).await;
    let snapshots = || {
        let names = fs::read_dir(server.folder()).unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("snapshot-")).count()
    };
    let mut backup = command(server.folder());
    let mut backup = backup.args(["backup", "--to", &text(folder.path())]).spawn().unwrap();
    eventually("a snapshot", async || {
        (snapshots() > 0 || backup.try_wait().unwrap().is_some()).then_some(())
    })
    .await;
    backup.kill().unwrap();
    backup.wait().unwrap();
    fs::create_dir_all(server.folder().join("snapshot-1")).unwrap();
    let (file, before) = backed_up(&server, &known, (folder.path(), "a")).await;
    assert_eq!(snapshots(), 0);
    check(&restored(&file, None, &server), &known, &before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_named() {
    let folder = TempDir::new().unwrap();
    let server = Deployment::alone(&[]);
    deliver(&server, &server.rest().inbox().await, &Mail::new("one", "x")).await;
    let file = text(&folder.path().join("a.tar"));
    server.command(&["backup", "--to", &file, "--without-keys"]);
    let names = Command::new("tar").arg("-tf").arg(&file).output().unwrap();
    assert!(!String::from_utf8(names.stdout).unwrap().contains("keys/"));
    let refused = server.refused_command(&["backup", "--to", &file]);
    assert!(refused.contains("cannot write") && refused.contains("exists"), "{refused}");
    let refused = server.refused_command(&["backup"]);
    assert!(refused.contains("TRAPLINE_BACKUP_TO"), "{refused}");
    let data = folder.path().join("data");
    let restore = |file: &str, flags: &[&str]| {
        let mut restore = command(&data);
        let output = restore.args(["restore", "--from", file]).args(flags).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(told)
    };
    let told = restore(&file, &[]).unwrap_err();
    assert!(told.contains("the archive has no key"), "{told}");
    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let told = restore(&file, &["--secret-key", other]).unwrap_err();
    assert!(told.contains("sealed with another key"), "{told}");
    let told = restore(&text(&folder.path().join("none")), &[]).unwrap_err();
    assert!(told.contains("there is no archive in"), "{told}");
    let bytes = fs::read(&file).unwrap();
    let cut = text(&folder.path().join("cut.tar"));
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let refused = server.refused_command(&["verify", "--from", &cut]);
    assert!(refused.contains("cut.tar: the archive is cut off: it ends at byte"), "{refused}");
    let with_keys = text(&folder.path().join("b.tar"));
    server.command(&["backup", "--to", &with_keys]);
    restore(&with_keys, &[]).unwrap();
    let told = restore(&with_keys, &[]).unwrap_err();
    assert!(told.contains("empty or not there") && told.contains("the table team"), "{told}");
}

/// One process backs itself up, keeps as many archives as it was told, and goes on after a turn that failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_backs_itself_up() {
    if is_cluster() {
        println!("skipped: a cluster is backed up by a command");
        return;
    }
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("backups");
    // A file where the folder should be: the first turn fails.
    fs::write(&place, "in the way").unwrap();
    let token = "a-token-for-the-metrics";
    let flags = [
        ["--metrics-token", token],
        ["--backup-to", place.to_str().unwrap()],
        ["--backup-every", "1h"],
        ["--backup-keep", "2"],
    ];
    let (server, clock) = Deployment::with_clock(&flags.concat());
    let metric = async |name: &str| {
        let metrics = server.client(token).get("/api/metrics").await.expect(200);
        let line =
            metrics.text().lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
        line.map_or(0.0, |value| value.trim().parse::<f64>().unwrap())
    };
    let failed = "trapline_backups_total{outcome=\"failed\"} ";
    eventually("a turn that failed", async || (metric(failed).await >= 1.0).then_some(())).await;
    assert!(server.log().contains("a backup failed, and is tried again"), "{}", server.log());
    let known = furnish(&server).await;
    fs::remove_file(&place).unwrap();
    let made = "trapline_backups_total{outcome=\"ok\"} ";
    let archives = || {
        let names = fs::read_dir(&place).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    // The failed turn is tried again after ten minutes, the others are an hour apart.
    let (mut firsts, mut count) = (Vec::new(), 0.0);
    for minutes in [11, 61, 61] {
        clock.jump(Duration::from_mins(minutes));
        count += 1.0;
        eventually("a backup", async || (metric(made).await >= count).then_some(())).await;
        firsts.push(archives().last().unwrap().clone());
    }
    eventually("the oldest is removed", async || (archives() == firsts[1..]).then_some(())).await;
    let last = metric("trapline_last_backup_timestamp_seconds ").await;
    assert!(last > 1.0 && metric("trapline_backup_interval_seconds ").await > 3_599.0);
    let newest = place.join(&firsts[2]);
    check(&restored(&newest, None, &server), &known, &BTreeMap::new()).await;
}
