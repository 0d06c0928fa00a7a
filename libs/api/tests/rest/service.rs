//! The service's own routes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use trapline_app::{Settings, StorageProbe};
use trapline_model::Time;
use trapline_store::{
    Job, Key, Lane, LaneStats, Lease, Op, PortError, Ports, Queue, Result as PortResult, Row, Scan,
    Store, Table,
};
use utoipa_axum::router::OpenApiRouter;

use crate::{Service, request, settings};

#[tokio::test]
async fn health_is_for_everybody() {
    let service = Service::start().await;
    let ask = async |path: &str| service.ask(request(None, "GET", path, &Value::Null)).await;
    let answer = ask("/api/health").await;
    assert_eq!((answer.status, answer.json()), (200, json!({ "ok": true })));
    // Neither an SMTP server nor a worker runs in this process.
    let answer = ask("/api/health?deep=1").await;
    let reasons = ["smtp_missing", "worker_missing"];
    let wanted = json!({
        "ok": false, "reasons": reasons, "smtp": false, "worker": false, "overdueJobs": 0
    });
    assert_eq!((answer.status, answer.json()), (503, wanted));
    service.app.maintenance().beat("smtp", "1").await;
    service.app.maintenance().beat("worker", "1").await;
    // Everybody may ask, so a look at the store lasts for some seconds.
    assert_eq!(ask("/api/health?deep=1").await.status, 503);
    service.clock.advance(Duration::from_secs(5));
    assert_eq!(ask("/api/health?deep=1").await.status, 200);
    assert_eq!(ask("/api/health?deep=2").await.status, 400);
}

/// A store and a queue, each of which can be away.
#[derive(Clone)]
struct Away {
    ports: Ports,
    store: Arc<AtomicBool>,
    queue: Arc<AtomicBool>,
}

fn unless(away: &AtomicBool) -> PortResult<()> {
    if away.load(Ordering::SeqCst) { Err(PortError::Timeout) } else { Ok(()) }
}

#[async_trait]
impl Store for Away {
    async fn prepare(&self, tables: &[&'static Table]) -> PortResult<()> {
        self.ports.store.prepare(tables).await
    }

    async fn get(&self, key: &Key) -> PortResult<Option<Row>> {
        unless(&self.store)?;
        self.ports.store.get(key).await
    }

    async fn scan(&self, scan: Scan) -> PortResult<Vec<Row>> {
        unless(&self.store)?;
        self.ports.store.scan(scan).await
    }

    async fn write(&self, ops: Vec<Op>) -> PortResult<()> {
        unless(&self.store)?;
        self.ports.store.write(ops).await
    }

    async fn ping(&self) -> PortResult<()> {
        unless(&self.store)
    }
}

#[async_trait]
impl Queue for Away {
    async fn publish(&self, job: &Job, due: Option<Time>) -> PortResult<()> {
        self.ports.queue.publish(job, due).await
    }

    async fn publish_with(&self, rows: Vec<Op>, jobs: Vec<(Job, Time)>) -> PortResult<()> {
        unless(&self.store)?;
        self.ports.queue.publish_with(rows, jobs).await
    }

    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> PortResult<Vec<Lease>> {
        self.ports.queue.take(lane, max, wait).await
    }

    async fn finish(&self, lease: Lease) -> PortResult<()> {
        self.ports.queue.finish(lease).await
    }

    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> PortResult<()> {
        self.ports.queue.retry(lease, next, due).await
    }

    async fn extend(&self, lease: &Lease) -> PortResult<()> {
        self.ports.queue.extend(lease).await
    }

    async fn stats(&self, lane: Lane) -> PortResult<LaneStats> {
        unless(&self.queue)?;
        self.ports.queue.stats(lane).await
    }
}

#[tokio::test]
async fn deep_health_says_when_nobody_can_tell() {
    let [store, queue] = [(); 2].map(|()| Arc::<AtomicBool>::default());
    let (away_store, away_queue) = (store.clone(), queue.clone());
    let service = Service::over(settings(None), |ports| {
        let away = Away { ports: ports.clone(), store: away_store, queue: away_queue };
        (ports.store, ports.queue) = (Arc::new(away.clone()), Arc::new(away));
    })
    .await;
    let ask = async || {
        service.clock.advance(Duration::from_secs(5));
        for role in ["smtp", "worker"] {
            service.app.maintenance().beat(role, "1").await;
        }
        let request = request(None, "GET", "/api/health?deep=1", &Value::Null);
        let answer = service.ask(request).await;
        (answer.status, answer.json()["reasons"].clone())
    };
    assert_eq!(ask().await, (200, Value::Null));
    for away in [store, queue] {
        away.store(true, Ordering::SeqCst);
        assert_eq!(ask().await, (503, json!(["unavailable"])));
        away.store(false, Ordering::SeqCst);
        assert_eq!(ask().await, (200, Value::Null));
    }
}

#[tokio::test]
async fn the_status_costs_no_read_of_its_own_for_a_while() {
    let service = Service::start().await;
    let ask = async |path: &str| service.ask(request(None, "GET", path, &Value::Null)).await;
    let uptime = async || ask("/api/status").await.json()["components"][2]["uptime90d"].clone();
    let fresh = ask("/api/status").await;
    assert_eq!(fresh.status, 200);
    assert_eq!(fresh.header("cache-control"), "public, max-age=5");
    let fresh = fresh.json();
    assert_eq!((&fresh["status"], &fresh["incidents"]), (&json!("operational"), &json!([])));
    assert_eq!(fresh["backlog"], json!({ "pending": 0, "overdue": 0, "oldestSeconds": 0 }));
    let status = service.app.status();
    status.take_probes("1", &[Arc::new(StorageProbe(status.clone()))]).await;
    assert_eq!(uptime().await, Value::Null, "as it was told before");
    service.clock.advance(Duration::from_secs(5));
    assert_eq!(uptime().await, 100.0);
    let page = ask("/status").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let html = String::from_utf8(page.body).unwrap();
    assert!(html.contains("Everything works") && !html.contains("<script"), "{html}");
    assert_eq!(html.matches("<li class=").count(), 5 * 90, "a text for each day");
    assert!(html.contains("<span>2027-01-15: 100 %</span>"), "{html}");
}

#[tokio::test]
async fn metrics_are_for_the_operator() {
    let service = Service::start().await;
    let cases =
        [(None, 401), (Some("wrong"), 401), (Some(&*service.key), 401), (Some("secret"), 200)];
    for (token, status) in cases {
        let answer = service.ask(request(token, "GET", "/api/metrics", &Value::Null)).await;
        assert_eq!(answer.status, status, "{token:?}");
        assert_eq!(answer.body == b"up 1\n", status == 200, "{token:?}");
    }
}

#[tokio::test]
async fn metrics_without_a_token_are_for_nobody() {
    let service = Service::start().await;
    for metrics_token in [None, Some(String::new())] {
        let options = trapline_api::Options {
            metrics: Arc::new(String::new),
            metrics_token,
            ca_certificate: Some("PEM".to_owned()),
            console: None,
        };
        let router = trapline_api::router(service.app.clone(), options, OpenApiRouter::default());
        let other = Service { router, ..Service::start().await };
        for token in [None, Some("")] {
            let answer = other.ask(request(token, "GET", "/api/metrics", &Value::Null)).await;
            assert_eq!(answer.code(), (401, "invalid_metrics_token".to_owned()));
        }
        let ca = other.ask(request(None, "GET", "/api/smtp/ca.pem", &Value::Null)).await;
        assert_eq!((ca.status, ca.body.as_slice()), (200, b"PEM".as_slice()));
    }
    assert_eq!(service.get("/api/smtp/ca.pem").await.status, 404);
}

#[tokio::test]
async fn the_document_is_shown_from_our_own_files() {
    let service = Service::start().await;
    let document = service.get("/api/openapi.json").await;
    assert_eq!(document.header("content-type"), "application/json");
    let mut described = serde_json::to_value(trapline_api::openapi()).unwrap();
    described["servers"] = json!([{ "url": "http://trapline.test" }]);
    assert_eq!(document.json(), described);
    // The page may have been opened under any name.
    described["servers"] = json!([{ "url": "/" }]);
    assert_eq!(service.get("/docs/openapi.json").await.json(), described);
    for path in ["/", "/docs"] {
        let root = service.get(path).await;
        assert_eq!((root.status, root.header("location")), (307, "docs/"));
    }
    let page = service.get("/docs/").await;
    let html = String::from_utf8(page.body.clone()).unwrap();
    assert!(page.header("content-security-policy").starts_with("default-src 'self'"));
    let mut sources = 0;
    for attribute in ["src=\"", "href=\""] {
        for part in html.split(attribute).skip(1) {
            let at = part.split('"').next().unwrap().trim_start_matches("./");
            assert!(!at.contains("//"), "{at}");
            assert_eq!(service.get(&format!("/docs/{at}")).await.status, 200, "{at}");
            sources += 1;
        }
    }
    assert!(sources > 4, "{html}");
    let script = service.get("/docs/swagger-initializer.js").await;
    let script = String::from_utf8(script.body).unwrap();
    assert!(script.contains("\"openapi.json\""), "{script}");
    assert!(html.contains("<title>Trapline API</title>"), "{html}");
    assert_eq!(service.get("/docs/none.js").await.code(), (404, "not_found".to_owned()));
    assert!(script.contains("\"validatorUrl\": \"none\""), "{script}");
}

/// Some proxies take the base URL's path off, others leave it on.
#[tokio::test]
async fn a_base_url_with_a_path_is_kept() {
    let base_url = "https://host.example/trapline".to_owned();
    let service = Service::with(Settings { base_url, ..settings(None) }).await;
    for before in ["", "/trapline"] {
        let get = async |path: &str| service.get(&format!("{before}{path}")).await;
        let document = get("/api/openapi.json").await.json();
        assert_eq!(document["servers"], json!([{ "url": "https://host.example/trapline" }]));
        let page = get("/docs/openapi.json").await.json();
        assert_eq!(page["servers"], json!([{ "url": "/trapline" }]));
        assert_eq!(get("/").await.header("location"), "/trapline/docs/");
        assert_eq!(get("/docs").await.header("location"), "docs/");
        assert_eq!(get("/docs/").await.status, 200);
        assert_eq!(get("/api/inboxes?size=1").await.status, 400);
        assert_eq!(get("/api/inboxes").await.status, 200);
        let lost = get("/api/inboxs").await;
        assert_eq!(lost.code(), (404, "no_such_path".to_owned()));
    }
    assert_eq!(service.get("/trapline").await.header("location"), "/trapline/docs/");
    assert_eq!(service.get("/traplines/api/inboxes").await.status, 404);
}

#[tokio::test]
async fn browsers_are_told_to_come_by_https_alone_where_it_is_served() {
    for (base_url, told) in [
        ("https://host.example", "max-age=31536000"),
        ("https://localhost:8443", ""),
        ("http://host.example", ""),
    ] {
        let base_url = base_url.to_owned();
        let service = Service::with(Settings { base_url, ..settings(None) }).await;
        for path in ["/api/inboxes", "/api/nothing", "/docs/", "/status"] {
            let answer = service.get(path).await;
            assert_eq!(answer.header("strict-transport-security"), told, "{path}");
        }
    }
}

/// A console that answers whoever wants HTML, with the prefix that it was told.
fn console() -> trapline_api::Console {
    Arc::new(|request, prefix| {
        let wants_html = request.headers.get("accept").is_some_and(|accept| accept == "text/html");
        wants_html.then(|| format!("console {} {prefix}", request.uri.path()).into_response())
    })
}

#[tokio::test]
async fn the_console_takes_the_paths_that_are_nobody_elses() {
    let base_url = "https://host.example/trapline".to_owned();
    let plain = Service::with(Settings { base_url, ..settings(None) }).await;
    let options = trapline_api::Options {
        metrics: Arc::new(String::new),
        metrics_token: None,
        ca_certificate: None,
        console: Some(console()),
    };
    let router = trapline_api::router(plain.app.clone(), options, OpenApiRouter::default());
    let service = Service { router, ..plain };
    let get = async |path: &str, accept: &str| {
        let mut request = request(None, "GET", path, &Value::Null);
        request.headers_mut().insert("accept", accept.parse().unwrap());
        service.ask(request).await
    };
    for path in ["/", "/trapline", "/sign-in", "/trapline/inboxes/none", "/inboxes/0?message=0"] {
        let page = get(path, "text/html").await;
        let seen = path.trim_start_matches("/trapline").split('?').next().unwrap();
        let seen = if seen.is_empty() { "/" } else { seen };
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.body, format!("console {seen} /trapline").as_bytes(), "{path}");
        assert_ne!(get(path, "*/*").await.status, 200, "{path}");
    }
    assert_eq!(get("/docs/", "text/html").await.status, 200);
    assert_eq!(get("/api/inboxs", "*/*").await.code(), (404, "no_such_path".to_owned()));
    // A signed link shows its message, whoever opens it.
    let signed = get("/inboxes/0?message=0&exp=1&sig=x", "text/html").await;
    assert_eq!(signed.status, 404);
}
