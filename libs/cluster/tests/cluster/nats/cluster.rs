//! A cluster of three servers that loses the one that leads.

use std::{
    collections::HashMap,
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use trapline_cluster::jetstream::{JetStreamOptions, JetStreamQueue};
use trapline_store::{Clock, Job, Lane, PortError, Queue as _};

/// Longer than an election takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Three servers.
struct Cluster {
    servers: Vec<(u16, Child)>,
    _folder: TempDir,
}

impl Cluster {
    fn start() -> Self {
        let name = "TRAPLINE_TEST_NATS_SERVER";
        let program = std::env::var(name)
            .unwrap_or_else(|_| panic!("{name} does not name the nats-server program"));
        let folder = TempDir::new().unwrap();
        // All at once, so that no port is given twice.
        let sockets: Vec<_> = (0..6).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports = sockets.iter().map(|socket| socket.local_addr().unwrap().port());
        let ports: Vec<_> = ports.collect();
        drop(sockets);
        let routes = ports[3..].iter().map(|port| format!("nats://127.0.0.1:{port}"));
        let routes = routes.collect::<Vec<_>>().join(", ");
        let server = |at: usize| {
            let (port, route) = (ports[at], ports[at + 3]);
            let (store, conf) =
                (folder.path().join(format!("js{at}")), folder.path().join(format!("{at}")));
            let config = format!(
                "server_name: s{at}\nlisten: \"127.0.0.1:{port}\"\n\
                 jetstream {{ store_dir: \"{}\" }}\n\
                 cluster {{ name: c, listen: \"127.0.0.1:{route}\", routes: [ {routes} ] }}\n",
                store.display()
            );
            fs::write(&conf, config).unwrap();
            let mut command = Command::new(&program);
            let child =
                command.arg("-c").arg(conf).stdin(Stdio::null()).stderr(Stdio::null()).spawn();
            (port, child.unwrap())
        };
        Self { servers: (0..3).map(server).collect(), _folder: folder }
    }

    fn options(&self) -> JetStreamOptions {
        let hosts = self.servers.iter().map(|(port, _)| format!("127.0.0.1:{port}"));
        let url = format!("nats://{}?replicas=3", hosts.collect::<Vec<_>>().join(","));
        JetStreamOptions { url, namespace: "own".to_owned(), clock: Clock::system() }
    }

    /// Kills the server that leads the stream.
    async fn kill_leader(&mut self) {
        let (port, _) = self.servers[0];
        let client = async_nats::connect(format!("127.0.0.1:{port}")).await.unwrap();
        let stream = async_nats::jetstream::new(client).get_stream("OWN_JOBS").await.unwrap();
        let cluster = stream.cached_info().cluster.clone().unwrap();
        let leader: usize = cluster.leader.unwrap()[1..].parse().unwrap();
        self.servers[leader].1.kill().unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, server) in &mut self.servers {
            server.kill().ok();
            server.wait().ok();
        }
    }
}

/// Publishes until told that it is stored.
async fn publish(queue: &JetStreamQueue, job: &Job) {
    loop {
        match queue.publish(job, None).await {
            Ok(()) => return,
            Err(PortError::Timeout | PortError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_survive_the_loss_of_the_leader() {
    let mut cluster = Cluster::start();
    let options = cluster.options();
    let ready = async {
        while let Err(error) = JetStreamQueue::migrate(&options).await {
            eprintln!("not yet: {error}");
        }
    };
    timeout(PATIENCE, ready).await.unwrap();
    let queue = JetStreamQueue::connect(&options).await.unwrap();
    let job =
        |id: usize| Job { id: id.to_string(), lane: Lane::Mail, attempt: 1, body: json!(null) };
    let later = options.clock.now().after(Duration::from_secs(3));
    for id in 0..100 {
        queue.publish(&job(id), (id % 2 == 0).then_some(later)).await.unwrap();
    }
    cluster.kill_leader().await;
    let publish = async {
        for id in 100..200 {
            publish(&queue, &job(id)).await;
        }
    };
    let mut times = HashMap::new();
    let work = async {
        while times.len() < 200 {
            let wait = Duration::from_millis(500);
            let Ok(leases) = queue.take(Lane::Mail, 10, wait).await else { continue };
            for lease in leases {
                *times.entry(lease.job.id.clone()).or_insert(0) += 1;
                queue.finish(lease).await.ok();
            }
        }
    };
    timeout(PATIENCE, futures_util::future::join(publish, work)).await.unwrap();
    // A job whose end was not heard, or that fired as the leader went, may come twice, but few do.
    let twice = times.values().filter(|times| **times > 1).count();
    assert!(twice < 50, "{times:?}");
}
