"""Apache Cassandra as the CQL server: one node, or a cluster of three that share the token ring."""

import json
import socket
from pathlib import Path

from network import free_port
from service import TOOLS, Failure, Service

CONFIG = Path(__file__).resolve().parent / "cassandra"
JARS = TOOLS / "cassandra" / "lib"
ARCHIVE = TOOLS / "cassandra" / "classes.jsa"
HEAP = "1g"
# The one node of the suites has the tables of dozens of installations, and each of thousands takes a quarter of a
# megabyte. On a heap that these fill, a change of the schema takes two seconds, all of them garbage collection.
HEAP_OF_ONE = "2g"
# Quick to start, and small: the C1 compiler, the serial collector, no JMX port.
JVM = [
    "-XX:MaxDirectMemorySize=256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ActiveProcessorCount=2",
    "-XX:+PerfDisableSharedMem",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+AllowArchivingWithJavaAgent",
    "-Djava.net.preferIPv4Stack=true",
    # Nobody asks by JMX for the numbers of each table, which are a third of what it takes.
    "-Dorg.apache.cassandra.disable_mbean_registration=true",
    "-Dcassandra-foreground=yes",
    "-Dcassandra.ring_delay_ms=3000",
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.consistent.rangemovement=false",
]
# A change of the schema is flushed to disk at once, which is most of what it costs. A node that is
# never restarted needs it in its commit log only.
NOT_RESTARTED = "-Dcassandra.test.flush_local_schema_changes=false"
OPTIONS, SUPPORTED = 5, 6
# Of the native protocol, version 4: version, flags, stream (2), opcode, length (4).
HEADER = 9


class Cassandra(Service):
    """A node. `archive` is where it leaves its loaded classes when it ends, for quicker starts."""

    def __init__(self, name: str, folder: Path, ip: str, archive: Path | None = None) -> None:
        super().__init__(name, folder, ip)
        self.archive = archive
        self.nodes: list[Cassandra] = [self]
        self.port = self.storage_port = 0
        # Where each node's log stood when this one was started.
        self.marks: dict[str, int] = {}

    def prepare(self) -> None:
        self.marks = {node.name: node.log_size() for node in self.nodes}
        # JSON is YAML.
        (self.folder / "cassandra.yaml").write_text(json.dumps(self.settings(), indent=2))

    def settings(self) -> dict[str, object]:
        ring, place = 2**64, self.nodes.index(self)
        return {
            "cluster_name": "trapline-tests",
            "num_tokens": 1,
            "initial_token": str(-(2**63) + ring * place // len(self.nodes)),
            "auto_bootstrap": False,
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch": "SimpleSnitch",
            "listen_address": self.ip,
            "rpc_address": self.ip,
            "broadcast_rpc_address": self.ip,
            "native_transport_port": self.port,
            "storage_port": self.storage_port,
            # A node that is its own seed does not wait for the others.
            "seed_provider": [
                {
                    "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                    "parameters": [{"seeds": ",".join(node.ip for node in self.nodes)}],
                }
            ],
            "data_file_directories": [str(self.folder / "data")],
            "commitlog_directory": str(self.folder / "commitlog"),
            "hints_directory": str(self.folder / "hints"),
            "saved_caches_directory": str(self.folder / "caches"),
            "cdc_raw_directory": str(self.folder / "cdc"),
            "commitlog_sync": "periodic",
            "commitlog_sync_period": "10000ms",
            "commitlog_segment_size": "8MiB",
            "commitlog_total_space": "256MiB",
            "memtable_allocation_type": "unslabbed_heap_buffers",
            "memtable_heap_space": "96MiB",
            "memtable_offheap_space": "96MiB",
            "file_cache_enabled": False,
            "networking_cache_size": "16MiB",
            "key_cache_size": "8MiB",
            # A dozen installations prepare theirs on one node. What is evicted may be so again before the
            # driver has prepared it anew.
            "prepared_statements_cache_size": "64MiB",
            "concurrent_reads": 16,
            "concurrent_writes": 32,
            "concurrent_compactors": 1,
            "read_request_timeout": "10s",
            "range_request_timeout": "20s",
            "write_request_timeout": "10s",
            "cas_contention_timeout": "5s",
            "auto_snapshot": False,
        }

    def command(self) -> list[str]:
        agents = list(JARS.glob("jamm-*.jar"))
        if not agents:
            raise Failure(f"no Cassandra in {JARS}: run tests/setup.sh")
        words = (CONFIG / "jvm.options").read_text().splitlines()
        classes = []
        if self.archive:
            classes = [f"-XX:ArchiveClassesAtExit={self.archive}"]
        elif ARCHIVE.exists():
            classes = [f"-XX:SharedArchiveFile={ARCHIVE}"]
        return [
            "java",
            f"-Xms{HEAP}",
            f"-Xmx{HEAP_OF_ONE if len(self.nodes) == 1 else HEAP}",
            *(word for word in words if word and not word.startswith("#")),
            *JVM,
            *([NOT_RESTARTED] if len(self.nodes) == 1 else []),
            *classes,
            f"-javaagent:{agents[0]}",
            f"-Dcassandra.config=file://{self.folder}/cassandra.yaml",
            f"-Dcassandra.logdir={self.folder}",
            f"-Dcassandra.storagedir={self.folder}",
            f"-Dlogback.configurationFile=file:{CONFIG}/logback.xml",
            "-cp",
            f"{JARS}/*",
            "org.apache.cassandra.service.CassandraDaemon",
        ]

    def ready(self) -> bool:
        """It answers, and it and the nodes that run know of each other."""
        others = [node for node in self.nodes if node is not self and node.running()]
        return self.answers() and all(
            self.sees(node, self.log_start) and node.sees(self, self.marks[node.name])
            for node in others
        )

    def answers(self) -> bool:
        with socket.create_connection((self.ip, self.port), timeout=1) as connection:
            connection.sendall(bytes([4, 0, 0, 0, OPTIONS, 0, 0, 0, 0]))
            answer = connection.recv(HEADER)
        return len(answer) == HEADER and answer[4] == SUPPORTED

    def sees(self, other: "Cassandra", since: int) -> bool:
        return f"/{other.ip}:{other.storage_port} is now UP" in self.log_since(since)


def cluster(folder: Path, ips: list[str]) -> list[Cassandra]:
    """As many nodes as there are addresses; all of them have the same ports."""
    nodes = [Cassandra(f"cassandra-{at}", folder, ip) for at, ip in enumerate(ips, 1)]
    port, storage_port = free_port(ips, 9042), free_port(ips, 7000)
    for node in nodes:
        node.nodes, node.port, node.storage_port = nodes, port, storage_port
    return nodes


def address(nodes: list[Cassandra]) -> str:
    return ",".join(f"{node.ip}:{node.port}" for node in nodes)
