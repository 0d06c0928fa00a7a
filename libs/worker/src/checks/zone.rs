//! A name server on loopback, for the time of one check: it knows the records of a zone, and nothing else.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts},
    net::runtime::TokioRuntimeProvider,
    proto::{
        op::{Message, ResponseCode},
        rr::{
            Name, RData, Record, RecordType,
            rdata::{A, AAAA, CNAME, MX, PTR, TXT},
        },
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use trapline_model::{DnsRecord, DnsRecordType, DnsZone};

use super::spf;

/// Of no meaning, as nothing is kept.
const TTL: u32 = 60;
/// Names that one leads to after another; a zone may lead round in circles.
const ALIASES: usize = 8;
/// Bytes of one string of a TXT record (RFC 1035, section 3.3.14).
const STRING_BYTES: usize = 255;
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// The server, until it is dropped. It speaks TCP, whose answers have room for any key.
pub(super) struct ZoneServer {
    address: SocketAddr,
    zone: Arc<ServedZone>,
    serving: JoinHandle<()>,
}

/// What is served, and how often there was nothing.
#[derive(Default)]
struct ServedZone {
    /// By name, in lower case and without a dot at the end; `None` is a server that answers nothing.
    records: Option<HashMap<String, Vec<(RecordType, RData)>>>,
    asked: AtomicUsize,
    void: AtomicUsize,
    /// The texts of each answer that had some.
    answers: Mutex<Vec<Vec<String>>>,
}

/// What a server was asked for.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Questions.
    pub(super) asked: usize,
    /// Questions without an answer, but for those for texts.
    pub(super) void: usize,
    /// The texts of each answer that had some.
    pub(super) answers: Vec<Vec<String>>,
}

impl ZoneServer {
    /// Serves `zone`; without one every question fails.
    ///
    /// # Errors
    ///
    /// When nothing can listen on loopback.
    pub(super) async fn start(zone: Option<&DnsZone>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let records = zone.map(by_name);
        let zone = Arc::new(ServedZone { records, ..ServedZone::default() });
        let serving = tokio::spawn(serve(listener, zone.clone()));
        Ok(Self { address, zone, serving })
    }

    /// A resolver that asks this server alone and keeps nothing.
    pub(super) fn resolver(&self) -> Option<TokioResolver> {
        let mut connection = ConnectionConfig::tcp();
        connection.port = self.address.port();
        let mut server = NameServerConfig::udp_and_tcp(self.address.ip());
        server.connections = vec![connection];
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        *builder.options_mut() = options();
        builder.build().ok()
    }

    /// What was asked for since the last call.
    pub(super) fn seen(&self) -> Seen {
        let mut answers = self.zone.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Seen {
            asked: self.zone.asked.swap(0, Ordering::Relaxed),
            void: self.zone.void.swap(0, Ordering::Relaxed),
            answers: std::mem::take(&mut answers),
        }
    }
}

impl Drop for ZoneServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.attempts = 1;
    options.timeout = QUERY_TIMEOUT;
    options.edns0 = true;
    options
}

async fn serve(listener: TcpListener, zone: Arc<ServedZone>) {
    let mut clients = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let zone = zone.clone();
        clients.spawn(async move { talk(stream, &zone).await });
    }
}

/// Answers questions until the client is gone (RFC 1035, section 4.2.2).
async fn talk(mut stream: TcpStream, zone: &ServedZone) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let length = stream.read_u16().await.ok()?;
        let mut question = vec![0; length.into()];
        stream.read_exact(&mut question).await.ok()?;
        let answer = zone.answer(Message::from_vec(&question).ok()?).to_vec().ok()?;
        // In one write: the second of two would wait for the client to acknowledge the first, 40 ms.
        let length = u16::try_from(answer.len()).ok()?.to_be_bytes();
        stream.write_all(&[&length[..], &answer].concat()).await.ok()?;
    }
}

impl ServedZone {
    fn answer(&self, question: Message) -> Message {
        let mut answer = question.into_response();
        let Some((query, records)) = answer.queries.first().cloned().zip(self.records.as_ref())
        else {
            answer.metadata.response_code = ResponseCode::ServFail;
            return answer;
        };
        self.asked.fetch_add(1, Ordering::Relaxed);
        answer.metadata.authoritative = true;
        answer.metadata.recursion_available = true;
        let mut name = query.name().clone();
        for _ in 0..ALIASES {
            let found = records.get(&key(&name.to_ascii())).map_or(&[][..], Vec::as_slice);
            let of_kind = |kind| found.iter().filter(move |(known, _)| *known == kind);
            let record = |(_, data): &(RecordType, RData)| {
                Record::from_rdata(name.clone(), TTL, data.clone())
            };
            answer.answers.extend(of_kind(query.query_type()).map(record));
            let alias = of_kind(RecordType::CNAME).next();
            match alias.filter(|_| query.query_type() != RecordType::CNAME) {
                Some((_, RData::CNAME(target))) => {
                    answer.answers.push(Record::from_rdata(
                        name.clone(),
                        TTL,
                        RData::CNAME(target.clone()),
                    ));
                    name = target.0.clone();
                }
                _ => break,
            }
        }
        self.note(&answer);
        if !answer.answers.iter().any(|record| record.record_type() == query.query_type()) {
            // A question for what an alias leads to follows, and is counted; a text that is not there ends the check,
            // or is the explanation, which counts for nothing (RFC 7208, section 4.6.4).
            let is_last = answer.answers.is_empty() && query.query_type() != RecordType::TXT;
            self.void.fetch_add(usize::from(is_last), Ordering::Relaxed);
            if !exists(records, &key(&name.to_ascii())) {
                answer.metadata.response_code = ResponseCode::NXDomain;
            }
        }
        answer
    }
}

impl ServedZone {
    fn note(&self, answer: &Message) {
        let texts = answer.answers.iter().filter_map(|record| match &record.data {
            RData::TXT(text) => Some(text.txt_data.concat()),
            _ => None,
        });
        let texts: Vec<_> = texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
        if !texts.is_empty() {
            self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(texts);
        }
    }
}

/// Whether there is something at a name or below it (RFC 8020).
fn exists(records: &HashMap<String, Vec<(RecordType, RData)>>, name: &str) -> bool {
    let below = format!(".{name}");
    records.keys().any(|known| known == name || known.ends_with(&below))
}

fn by_name(zone: &DnsZone) -> HashMap<String, Vec<(RecordType, RData)>> {
    let mut records = HashMap::<_, Vec<_>>::new();
    for record in &zone.records {
        if let Some(data) = data(record) {
            records.entry(key(&record.name)).or_default().push((data.record_type(), data));
        }
    }
    records
}

fn key(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// What a record says; none where it is no such value, which zones are not taken with.
fn data(record: &DnsRecord) -> Option<RData> {
    let value = record.value.as_str();
    Some(match record.kind {
        DnsRecordType::Txt => {
            let value = spf::readable(value);
            let strings: Vec<_> = value.as_bytes().chunks(STRING_BYTES).collect();
            RData::TXT(TXT::from_bytes(if strings.is_empty() { vec![&[][..]] } else { strings }))
        }
        DnsRecordType::A | DnsRecordType::Aaaa => match value.parse().ok()? {
            IpAddr::V4(ip) => RData::A(A(ip)),
            IpAddr::V6(ip) => RData::AAAA(AAAA(ip)),
        },
        DnsRecordType::Mx => {
            let (preference, name) = value.split_once(' ')?;
            RData::MX(MX::new(preference.parse().ok()?, absolute(name)?))
        }
        DnsRecordType::Ptr => RData::PTR(PTR(absolute(value)?)),
        DnsRecordType::Cname => RData::CNAME(CNAME(absolute(value)?)),
    })
}

fn absolute(name: &str) -> Option<Name> {
    let mut name = Name::from_ascii(name).ok()?;
    name.set_fqdn(true);
    Some(name)
}
