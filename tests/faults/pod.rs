//! A pod: a network namespace with one address for each service, over which it can be cut off.
//!
//! Everything goes over one pair of virtual Ethernet devices. A cut points the neighbour entries of
//! one pair of addresses to a hardware address that nobody has: what is sent there is lost without a
//! word, in both directions, while connections stay as they are.

use std::{
    net::Ipv4Addr,
    process::{Child, Command, Stdio},
};

use trapline_tests::Backing;

use crate::services::{self, Service};

/// A locally administered hardware address that no device has.
const NOBODY: &str = "02:00:00:00:00:99";
/// Removes the namespace, and with it the devices, when the standard input ends.
const GUARD: &str = "trap '' INT TERM; cat >/dev/null; ip netns del \"$1\"";
/// The last parts of the addresses that the tests talk to the pod over.
const FRONT: (u8, u8) = (1, 101);

/// A network namespace; dropping it removes it.
pub(crate) struct Pod {
    name: String,
    network: [u8; 3],
    guard: Child,
}

impl Pod {
    /// Makes one, or says why there is none.
    pub(crate) fn new(backing: &Backing) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("network namespaces need root".to_owned());
        }
        let id = std::process::id();
        let part = |number: u32| u8::try_from(number % 250).unwrap_or_default();
        let network = [10, 200 + part(id / 250) % 50, part(id)];
        let name = format!("tl{id}");
        ip(&["netns", "add", &name])?;
        let guard = Command::new("sh")
            .args(["-c", GUARD, "guard", &name])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let pod = Self { name, network, guard };
        pod.wire()?;
        for service in Service::ALL {
            let (gateway, own) = pod.pair(service);
            for server in services::addresses(backing, service) {
                let (gateway, own) = (gateway.to_string(), own.to_string());
                let route = format!("route add {server}/32 via {gateway} src {own}");
                pod.inside(&route)?;
            }
        }
        Ok(pod)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where the tests reach the pod's servers.
    pub(crate) fn address(&self) -> Ipv4Addr {
        self.host(FRONT.1)
    }

    /// Where the pod reaches the tests.
    pub(crate) fn gateway(&self) -> Ipv4Addr {
        self.host(FRONT.0)
    }

    /// Loses everything between the pod and a service.
    pub(crate) fn cut(&self, service: Service) {
        let (gateway, own) = self.pair(service);
        let here =
            format!("neigh replace {own} lladdr {NOBODY} nud permanent dev {}", self.outer());
        let there = format!("neigh replace {gateway} lladdr {NOBODY} nud permanent dev pod");
        self.outside(&here).and_then(|()| self.inside(&there)).unwrap();
    }

    /// Ends a cut.
    pub(crate) fn mend(&self, service: Service) {
        let (gateway, own) = self.pair(service);
        let here = format!("neigh del {own} dev {}", self.outer());
        let there = format!("neigh del {gateway} dev pod");
        self.outside(&here).and_then(|()| self.inside(&there)).unwrap();
    }

    fn wire(&self) -> Result<(), String> {
        let outer = self.outer();
        self.outside(&format!("link add {outer} type veth peer name pod netns {}", self.name))?;
        let pairs = Service::ALL.map(|service| self.pair(service));
        let front = (self.host(FRONT.0), self.host(FRONT.1));
        for (gateway, own) in std::iter::once(front).chain(pairs) {
            self.outside(&format!("addr add {gateway}/24 dev {outer}"))?;
            self.inside(&format!("addr add {own}/24 dev pod"))?;
        }
        self.outside(&format!("link set {outer} up"))?;
        for device in ["lo", "pod"] {
            self.inside(&format!("link set {device} up"))?;
        }
        // The services are at addresses of the loopback network, which the kernel else neither takes
        // from a device nor sends to one.
        let enter = ["netns", "exec", &self.name];
        for (place, device) in [(&[][..], outer.as_str()), (&enter[..], "pod")] {
            let write = format!("echo 1 > /proc/sys/net/ipv4/conf/{device}/route_localnet");
            match place {
                [] => run("sh", &["-c", &write])?,
                place => ip(&[place, &["sh", "-c", &write]].concat())?,
            }
        }
        self.inside("route del local 127.0.0.0/8 dev lo table local")
    }

    fn outer(&self) -> String {
        format!("{}h", self.name)
    }

    /// The addresses of both ends for one service.
    fn pair(&self, service: Service) -> (Ipv4Addr, Ipv4Addr) {
        let number = service as u8 + 11;
        (self.host(number), self.host(number + 100))
    }

    fn host(&self, number: u8) -> Ipv4Addr {
        let [a, b, c] = self.network;
        Ipv4Addr::new(a, b, c, number)
    }

    #[expect(clippy::unused_self, reason = "the counterpart of inside")]
    fn outside(&self, words: &str) -> Result<(), String> {
        ip(&words.split(' ').collect::<Vec<_>>())
    }

    fn inside(&self, words: &str) -> Result<(), String> {
        let words: Vec<_> = ["-n", &self.name].into_iter().chain(words.split(' ')).collect();
        ip(&words)
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        drop(self.guard.wait());
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
