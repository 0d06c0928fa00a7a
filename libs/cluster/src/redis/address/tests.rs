#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use redis::ConnectionAddr;

use super::*;

fn host_and_port(node: &ConnectionInfo) -> (&str, u16) {
    match node.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            (host, *port)
        }
        _ => panic!("not TCP"),
    }
}

#[test]
fn one_server() {
    let cases = [
        ("redis://h", ("h", 6379), None, None, 0),
        ("redis://h:1", ("h", 1), None, None, 0),
        ("redis://h:1/", ("h", 1), None, None, 0),
        ("redis://h/7?cluster=false", ("h", 6379), None, None, 7),
        ("redis://:secret@h", ("h", 6379), None, Some("secret"), 0),
        ("redis://me:s%40c%2Fr@h:1/2", ("h", 1), Some("me"), Some("s@c/r"), 2),
        ("redis://me:a@b@h", ("h", 6379), Some("me"), Some("a@b"), 0),
        ("redis://[::1]:1", ("::1", 1), None, None, 0),
    ];
    for (text, at, user, password, database) in cases {
        let address = RedisAddress::parse(text).unwrap();
        let [node] = &address.nodes[..] else { panic!("{text}") };
        let redis = node.redis_settings();
        assert_eq!(host_and_port(node), at, "{text}");
        assert_eq!((redis.username(), redis.password()), (user, password), "{text}");
        assert_eq!((redis.db(), address.cluster), (database, false), "{text}");
        assert!(matches!(node.addr(), ConnectionAddr::Tcp(..)), "{text}");
    }
}

#[test]
fn a_cluster() {
    let address = RedisAddress::parse("rediss://me:pw@a:1,b,c:3/?cluster=true").unwrap();
    let at: Vec<_> = address.nodes.iter().map(host_and_port).collect();
    assert_eq!(at, [("a", 1), ("b", 6379), ("c", 3)]);
    assert_eq!(address.hosts, "a:1,b:6379,c:3");
    assert!(address.cluster);
    for node in &address.nodes {
        assert_eq!(node.redis_settings().password(), Some("pw"));
        assert!(matches!(node.addr(), ConnectionAddr::TcpTls { insecure: false, .. }));
    }
    address.cluster_builder().build().unwrap();
}

#[test]
fn what_is_wrong_is_told_without_the_password() {
    let cases = [
        ("", "begin with redis:// or rediss://"),
        ("hunter2@h", "begin with"),
        ("http://:hunter2@h", "begin with"),
        ("redis://", "hosts"),
        ("redis://:hunter2@a,,b?cluster=true", "host 2"),
        ("redis://:hunter2@:6379", "host 1"),
        ("redis://:hunter2@h:port", "host 1"),
        ("redis://:hunter2@h/hunter2", "the number of a database"),
        ("redis://:hunter2%FF@h", "UTF-8"),
        ("redis://:hunter2@a,b", "several hosts"),
        ("redis://:hunter2@a,b/1?cluster=true", "database 0"),
        ("redis://:hunter2@h?ca=/ca.pem", "rediss"),
        ("redis://:hunter2@h?protocol=resp3", "parameter 1"),
        ("redis://:hunter2@h?cluster=yes", "cluster must be true or false"),
        ("rediss://:hunter2@h?ca=", "ca must be a path"),
        ("rediss://:hunter2@h?ca=/no/such/file", "/no/such/file"),
        ("rediss://:hunter2@h?ca=/dev/null", "cannot read the CA"),
    ];
    for (text, told) in cases {
        let error = RedisAddress::parse(text).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.to_string().contains(told), "{text}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{text}: {error:?}");
    }
}
