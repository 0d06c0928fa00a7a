//! What goes wrong, for how long, and what lifts it.

use std::{thread::sleep, time::Duration};

use async_nats::jetstream;
use tokio::runtime::Runtime;
use trapline_tests::Backing;

use crate::{
    fleet::{Fleet, Role},
    services::{self, Service},
};

/// How long something that an orchestrator starts again is away.
const RESTART: Duration = Duration::from_secs(1);

/// A fault.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// `kill -9` of one of the two processes of a role, which is started again.
    KillProcess(Role),
    /// SIGSTOP and SIGCONT of one of the two.
    PauseProcess(Role),
    /// `kill -9` of a server, which is started again.
    KillServer(&'static str, Duration),
    /// SIGSTOP and SIGCONT of a server.
    PauseServer(&'static str),
    /// `kill -9` of the server that leads the job queue's stream.
    KillLeader,
    /// Everything between the pod and a service is lost.
    Cut(Service),
    /// Every process is replaced by a new one, one after another.
    Roll,
}

/// Everything that a fault may strike.
pub(crate) struct World {
    pub(crate) fleet: Fleet,
    pub(crate) backing: Backing,
    pub(crate) runtime: Runtime,
    /// How long what is paused, cut or switched off stays so.
    pub(crate) hold: Duration,
}

/// All faults. `outage` is how long the object store is away.
pub(crate) fn all(hold: Duration, outage: Duration) -> Vec<Fault> {
    let mut all: Vec<_> = Role::ALL.map(Fault::KillProcess).into();
    all.extend(Role::ALL.map(Fault::PauseProcess));
    all.extend([
        Fault::KillServer("cassandra-2", hold),
        Fault::KillLeader,
        Fault::KillServer("redis-1", hold),
        Fault::PauseServer("redis-1"),
        Fault::KillServer("s3-1", outage),
        Fault::PauseServer("s3-1"),
    ]);
    all.extend(Service::ALL.map(Fault::Cut));
    all.push(Fault::Roll);
    all
}

impl Fault {
    /// For the table.
    pub(crate) fn name(self, hold: Duration) -> String {
        let hold = hold.as_secs();
        match self {
            Self::KillProcess(role) => format!("`kill -9` of one of two `{}`", role.name()),
            Self::PauseProcess(role) => {
                format!("SIGSTOP of one of two `{}` for {hold} s", role.name())
            }
            Self::KillServer(server, time) => {
                let (server, time) = (server_name(server), time.as_secs());
                format!("`kill -9` of {server}, away for {time} s")
            }
            Self::PauseServer(server) => format!("SIGSTOP of {} for {hold} s", server_name(server)),
            Self::KillLeader => format!("`kill -9` of the JetStream leader of three, for {hold} s"),
            Self::Cut(service) => format!("network cut from a pod to {service:?} for {hold} s"),
            Self::Roll => "rolling restart of every process".to_owned(),
        }
    }

    /// Lets it happen, and returns when its cause is gone.
    pub(crate) fn strike(self, world: &mut World) {
        let World { fleet, backing, runtime, hold } = world;
        match self {
            Self::KillProcess(role) => {
                fleet.kill(role, 0);
                sleep(RESTART);
                fleet.start_again(role, 0);
            }
            Self::PauseProcess(role) => {
                fleet.node(role, 0).pause();
                sleep(*hold);
                fleet.node(role, 0).resume();
            }
            Self::KillServer(server, time) => kill(backing, server, time),
            Self::PauseServer(server) => {
                backing.order(&format!("stop {server}"));
                sleep(*hold);
                backing.order(&format!("cont {server}"));
            }
            Self::KillLeader => {
                let leader = runtime.block_on(leader(fleet, backing));
                kill(backing, &leader, *hold);
            }
            Self::Cut(service) => {
                let pod = fleet.pod.as_ref().expect("cuts are left out where there is no pod");
                pod.cut(service);
                sleep(*hold);
                pod.mend(service);
            }
            Self::Roll => fleet.roll(runtime),
        }
    }
}

fn server_name(server: &str) -> &str {
    match server {
        "cassandra-2" => "one of three Cassandra",
        "redis-1" => "Redis",
        "s3-1" => "S3",
        other => other,
    }
}

fn kill(backing: &mut Backing, server: &str, time: Duration) {
    backing.order(&format!("kill {server}"));
    sleep(time);
    backing.order(&format!("start {server}"));
}

/// The server that leads the stream; its name is the one that orders go by.
async fn leader(fleet: &Fleet, backing: &Backing) -> String {
    let urls = services::urls(backing).nats;
    let hosts = urls.trim_start_matches("nats://").split('?').next().unwrap_or_default();
    let hosts: Vec<_> = hosts.split(',').map(str::to_owned).collect();
    let client = async_nats::connect(hosts).await.unwrap();
    let stream = format!("{}_JOBS", fleet.site.namespace().to_ascii_uppercase());
    let stream = jetstream::new(client).get_stream(stream).await.unwrap();
    let cluster = stream.cached_info().cluster.as_ref().unwrap();
    cluster.leader.clone().unwrap()
}
