//! An S3 server that goes away: it begins uploads, and hangs up on whoever sends a part.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread::spawn,
};

/// What an upload is begun with (the answer to `CreateMultipartUpload` in Amazon's API reference).
const BEGUN: &str = "<InitiateMultipartUploadResult><Bucket>mail</Bucket><Key>a</Key>\
                     <UploadId>first</UploadId></InitiateMultipartUploadResult>";

/// Its request lines.
#[derive(Default, Clone)]
pub(crate) struct BrokenBucket(Arc<Mutex<Vec<String>>>);

impl BrokenBucket {
    /// Listens until the program ends.
    pub(crate) fn listen() -> (Self, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (bucket, address) = (Self::default(), listener.local_addr().unwrap());
        let asked = bucket.clone();
        spawn(move || {
            for connection in listener.incoming().flatten() {
                asked.serve(&connection);
            }
        });
        (bucket, address)
    }

    /// The requests so far: method and path with its query.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn serve(&self, mut connection: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(connection);
        let mut line = || {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            Some(line.trim_end().to_owned())
        };
        let request = line()?;
        let mut length = 0;
        while let Some(field) = line().filter(|field| !field.is_empty()) {
            if let Some(value) = field.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        self.0.lock().unwrap().push(request.clone());
        if request.starts_with("PUT ") {
            return None;
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        let head = format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            BEGUN.len()
        );
        connection.write_all(format!("{head}{BEGUN}").as_bytes()).ok()
    }
}
