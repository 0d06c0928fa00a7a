//! Two processes of each role; the second of each is in the pod, where there is one.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::runtime::Runtime;
use trapline_tests::{Node, Rest, Site};

use crate::pod::Pod;

/// Processes of each role.
pub(crate) const EACH: usize = 2;
const READY_WITHIN: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Smtp,
    Api,
    Worker,
}

impl Role {
    pub(crate) const ALL: [Self; 3] = [Self::Smtp, Self::Api, Self::Worker];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Smtp => "smtp",
            Self::Api => "api",
            Self::Worker => "worker",
        }
    }
}

/// What a load balancer knows.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    smtp: Mutex<Vec<SocketAddr>>,
    api: Mutex<Vec<String>>,
}

impl Addresses {
    /// A process that takes mail; numbers go round.
    pub(crate) fn smtp(&self, number: usize) -> SocketAddr {
        self.smtp.lock().unwrap()[number % EACH]
    }

    /// A process that serves the API.
    pub(crate) fn api(&self, number: usize) -> String {
        self.api.lock().unwrap()[number % EACH].clone()
    }

    /// One process that does everything; it replaces what was known.
    pub(crate) fn set_single(&self, smtp: SocketAddr, api: &str) {
        *self.smtp.lock().unwrap() = vec![smtp; EACH];
        *self.api.lock().unwrap() = vec![api.to_owned(); EACH];
    }

    fn set(&self, nodes: &BTreeMap<(Role, usize), Node>) {
        let of = |role| nodes.iter().filter(move |((other, _), _)| *other == role);
        *self.smtp.lock().unwrap() = of(Role::Smtp).filter_map(|(_, node)| node.smtp()).collect();
        *self.api.lock().unwrap() = of(Role::Api).map(|(_, node)| node.http().to_owned()).collect();
    }
}

pub(crate) struct Fleet {
    nodes: BTreeMap<(Role, usize), Node>,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) pod: Result<Pod, String>,
    pub(crate) site: Site,
}

impl Fleet {
    pub(crate) fn start(site: Site, pod: Result<Pod, String>) -> Self {
        let (nodes, addresses) = (BTreeMap::new(), Arc::default());
        let mut fleet = Self { nodes, addresses, pod, site };
        for role in Role::ALL {
            for number in 0..EACH {
                let node = fleet.run(role, number, None);
                fleet.nodes.insert((role, number), node);
            }
        }
        fleet.addresses.set(&fleet.nodes);
        fleet
    }

    pub(crate) fn node(&self, role: Role, number: usize) -> &Node {
        &self.nodes[&(role, number)]
    }

    pub(crate) fn kill(&mut self, role: Role, number: usize) {
        self.nodes.get_mut(&(role, number)).unwrap().kill();
    }

    /// Starts a killed process again, where it was.
    pub(crate) fn start_again(&mut self, role: Role, number: usize) {
        let old = &self.nodes[&(role, number)];
        let node = self.run(role, number, Some(old));
        self.nodes.insert((role, number), node);
    }

    /// Puts a new process in the place of each, one after another: the new one gets its share of
    /// clients when it is ready, and only then the old one is told to end.
    pub(crate) fn roll(&mut self, runtime: &Runtime) {
        for role in Role::ALL {
            for number in 0..EACH {
                let new = self.run(role, number, None);
                wait_ready(runtime, &new);
                let mut old = self.nodes.insert((role, number), new).unwrap();
                self.addresses.set(&self.nodes);
                assert!(old.end(), "a process did not end well:\n{}", old.log());
            }
        }
    }

    /// Waits until every process says that it can work.
    pub(crate) fn wait_ready(&self, runtime: &Runtime) {
        self.nodes.values().for_each(|node| wait_ready(runtime, node));
    }

    /// The ends of all logs.
    pub(crate) fn logs(&self) -> String {
        let log = |((role, number), node): (&(Role, usize), &Node)| {
            format!("-- {} {number}\n{}", role.name(), node.log())
        };
        self.nodes.iter().map(log).collect::<Vec<_>>().join("\n")
    }

    fn run(&self, role: Role, number: usize, old: Option<&Node>) -> Node {
        let pod = self.pod.as_ref().ok().filter(|_| number == 1);
        let ip = pod.map_or(Ipv4Addr::LOCALHOST, Pod::address);
        let any = format!("{ip}:0");
        let http = old.map(|node| node.http().trim_start_matches("http://").to_owned());
        let http = http.unwrap_or_else(|| any.clone());
        let smtp = old.and_then(Node::smtp).map_or_else(|| any.clone(), |smtp| smtp.to_string());
        let hooks = ["--webhook-allow-cidrs", "127.0.0.0/8,10.0.0.0/8"];
        let own: &[&str] = match role {
            Role::Smtp => &["--smtp", &smtp, "--smtps", &any],
            Role::Api => &["--api-rate", "0", "--smtp-host", "127.0.0.1", "--smtp-port", "25"],
            Role::Worker => &[],
        };
        let common: &[&str] = if role == Role::Smtp { &[] } else { &hooks };
        let arguments = [&[role.name(), "--http", &http], own, common].concat();
        self.site.start(pod.map(Pod::name), &arguments)
    }
}

fn wait_ready(runtime: &Runtime, node: &Node) {
    let client = Rest::new(node.http(), None);
    let began = Instant::now();
    let ask = async || {
        let request = client.request("GET", "/readyz").timeout(Duration::from_secs(10));
        request.send().await.is_ok_and(|answer| answer.status().is_success())
    };
    while !runtime.block_on(ask()) {
        assert!(began.elapsed() < READY_WITHIN, "not ready: {}\n{}", node.http(), node.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}
