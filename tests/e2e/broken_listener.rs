//! A part that ends before its time ends the process, which then says that it is not well.

use std::{
    fs, io,
    net::{Shutdown, SocketAddr},
    os::fd::OwnedFd,
};

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use socket2::Socket;
use trapline_tests::{Deployment, Rest, guarded, is_cluster};

/// The socket of another process that listens at this address of IPv4, as an operator's tool could
/// take hold of it.
fn listener(process: u32, address: SocketAddr) -> io::Result<OwnedFd> {
    let local = format!(":{:04X}", address.port());
    let table = fs::read_to_string(format!("/proc/{process}/net/tcp"))?;
    let listens = |fields: &Vec<&str>| fields[1].ends_with(&local) && fields[3] == "0A";
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    let inode = rows.filter(listens).map(|fields| fields[9].to_owned()).next().unwrap();
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        let path = entry?.path();
        if fs::read_link(&path)?.to_string_lossy() == format!("socket:[{inode}]") {
            let number = path.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap();
            let id = i32::try_from(process).ok().and_then(Pid::from_raw).unwrap();
            let process = pidfd_open(id, PidfdFlags::empty())?;
            return Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?);
        }
    }
    panic!("{address} is nobody's");
}

#[tokio::test]
async fn a_listener_that_breaks_ends_the_process() {
    if is_cluster() {
        // There each role runs the same code, and the others go on.
        return;
    }
    let http = |server: &Deployment| server.api()[0].strip_prefix("http://").unwrap().to_owned();
    for part in ["SMTP", "HTTP"] {
        let mut server = Deployment::start();
        let address = match part {
            "SMTP" => server.smtp()[0],
            _ => http(&server).parse().unwrap(),
        };
        let rest = Rest::new(&server.api()[0], None);
        rest.get("/api/health?deep=1").await.expect(200);
        let socket = match listener(server.smtp_process_ids()[0], address) {
            Ok(socket) => Socket::from(socket),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return,
            Err(error) => panic!("{error}"),
        };
        socket.shutdown(Shutdown::Both).unwrap();
        guarded("the end of health", async {
            let health = async || rest.request("GET", "/api/health").send().await;
            while health().await.is_ok_and(|answer| answer.status().is_success()) {}
        })
        .await;
        let (server, status) = tokio::task::spawn_blocking(move || {
            let status = server.ended();
            (server, status)
        })
        .await
        .unwrap();
        assert_eq!(status.code(), Some(1), "{part}");
        let log = server.log();
        assert!(log.contains(&format!("{part} ended before its time")), "{log}");
    }
}
