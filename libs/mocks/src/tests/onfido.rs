//! Onfido as its SDKs use it.

use serde_json::{Value, json};

use super::World;
use crate::{MockAction, MockReply};

fn applicant(world: &mut World, last_name: &str) -> Value {
    let new = json!({"first_name": "Ada", "last_name": last_name, "email": null});
    let (status, made) = world.ask_json("POST", "/v3.6/applicants", &new);
    assert_eq!(status, 201, "{made}");
    made["id"].clone()
}

fn get(world: &mut World, path: &str) -> Value {
    let (status, found) = world.ask_json("GET", path, &Value::Null);
    assert_eq!(status, 200, "{path}: {found}");
    found
}

#[test]
fn an_applicant_lives_goes_and_comes_back() {
    let mut world = World::of("onfido");
    let id = applicant(&mut world, "Lovelace");
    let path = format!("/v3.6/applicants/{}", id.as_str().unwrap());
    let found = get(&mut world, &path);
    assert!(found["sandbox"] == true && found.get("email").is_none(), "{found}");
    let change = json!({"last_name": "Byron", "dob": "1815-12-10"});
    assert_eq!(world.ask_json("PUT", &path, &change).1["last_name"], "Byron");
    assert_eq!(world.ask_json("DELETE", &path, &Value::Null).0, 204);
    let (status, error) = world.ask_json("GET", &path, &Value::Null);
    assert_eq!((status, &error["error"]["type"]), (404, &json!("resource_not_found")));
    assert_eq!(get(&mut world, "/v3.6/applicants")["applicants"], json!([]));
    let all = get(&mut world, "/v3.6/applicants?include_deleted=true");
    assert!(all["applicants"][0]["delete_at"].is_string());
    assert_eq!(world.ask_json("POST", &format!("{path}/restore"), &Value::Null).0, 204);
    assert_eq!(get(&mut world, &path)["dob"], "1815-12-10");
    assert_eq!(world.ask_json("POST", &format!("{path}/restore"), &Value::Null).0, 422);
    let (status, error) = world.ask_json("POST", "/v3.6/applicants", &json!({"first_name": "Ada"}));
    assert_eq!((status, &error["error"]["fields"]["last_name"]), (422, &json!(["can't be blank"])));
}

fn upload(world: &mut World, path: &str, applicant: &Value, file: &str) -> MockReply {
    let id = applicant.as_str().unwrap();
    let body = format!(
        "--xx\r\nContent-Disposition: form-data; name=\"applicant_id\"\r\n\r\n{id}\r\n\
         --xx\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\npassport\r\n\
         --xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file}\"\r\n\r\n\u{89}PNG\r\n--xx--\r\n"
    );
    let mut call = world.request("POST", path, &body);
    call.headers[0].1 = "multipart/form-data; boundary=xx".to_owned();
    world.call(&call).reply
}

#[test]
fn files_are_kept_as_what_they_are() {
    let mut world = World::of("onfido");
    let id = applicant(&mut world, "Lovelace");
    for (path, kind) in [("/v3.6/documents", "documents"), ("/v3.6/live_photos", "live_photos")] {
        let reply = upload(&mut world, path, &id, "a.png");
        assert_eq!(reply.status, 201, "{}", reply.body);
        let made: Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!((&made["file_type"], &made["file_size"]), (&json!("png"), &json!(5)));
        let list = get(&mut world, &format!("{path}?applicant_id={}", id.as_str().unwrap()));
        assert_eq!(list[kind], json!([made]));
        let one = format!("{path}/{}", made["id"].as_str().unwrap());
        assert_eq!(get(&mut world, &one), made);
        let call = world.request("GET", &format!("{one}/download"), "");
        assert!(world.call(&call).reply.body.starts_with("%PDF"));
    }
    let refused = upload(&mut world, "/v3.6/documents", &id, "a.exe");
    assert!(refused.status == 422 && refused.body.contains("\"file\""), "{}", refused.body);
    let stranger = upload(&mut world, "/v3.6/documents", &json!("none"), "a.png");
    assert_eq!(stranger.status, 404);
    let new = json!({"applicant_id": id, "type": "passport"});
    assert_eq!(world.ask_json("POST", "/v3.6/documents", &new).0, 422);
}

fn check(world: &mut World, applicant: &Value, more: &Value) -> Value {
    let mut new =
        json!({"applicant_id": applicant, "report_names": ["document", "facial_similarity_photo"]});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, made) = world.ask_json("POST", "/v3.6/checks", &new);
    assert_eq!(status, 201, "{made}");
    made
}

/// The same, and the check as it is when its time has come.
fn ended(world: &mut World, applicant: &Value, more: &Value) -> Value {
    let made = check(world, applicant, more);
    world.go_on();
    get(world, &format!("/v3.6/checks/{}", made["id"].as_str().unwrap()))
}

#[test]
fn a_check_ends_with_the_results_of_its_reports() {
    let mut world = World::of("onfido");
    let id = applicant(&mut world, "Lovelace");
    let made = check(&mut world, &id, &json!({}));
    assert_eq!(
        (&made["status"], world.events()),
        (&json!("in_progress"), vec!["check.started".to_owned()])
    );
    world.go_on();
    assert_eq!(world.events(), ["report.completed", "report.completed", "check.completed"]);
    let path = format!("/v3.6/checks/{}", made["id"].as_str().unwrap());
    let done = get(&mut world, &path);
    assert_eq!((&done["status"], &done["result"]), (&json!("complete"), &json!("clear")));
    let more = json!({"consider": ["document"], "sub_result": "rejected", "asynchronous": false});
    let done = check(&mut world, &id, &more);
    assert_eq!((&done["status"], &done["result"]), (&json!("complete"), &json!("consider")));
    let reports =
        get(&mut world, &format!("/v3.6/reports?check_id={}", done["id"].as_str().unwrap()));
    let of = |name: &str| {
        reports["reports"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&of("document")["result"], &of("document")["sub_result"]),
        (&json!("consider"), &json!("rejected"))
    );
    assert_eq!(of("facial_similarity_photo")["result"], "clear");
    let report = get(&mut world, of("document")["href"].as_str().unwrap());
    assert_eq!(report, of("document"));
    let list = get(&mut world, &format!("/v3.6/checks?applicant_id={}", id.as_str().unwrap()));
    assert_eq!(list["checks"].as_array().unwrap().len(), 2);
    let wrong = json!({"applicant_id": id, "report_names": ["none"]});
    assert_eq!(world.ask_json("POST", "/v3.6/checks", &wrong).0, 422);
}

#[test]
fn a_check_waits_for_its_applicant() {
    let mut world = World::of("onfido");
    let id = applicant(&mut world, "Lovelace");
    let made = check(&mut world, &id, &json!({"applicant_provides_data": true}));
    assert_eq!(
        (&made["status"], world.events()),
        (&json!("awaiting_applicant"), vec!["check.started".to_owned()])
    );
    assert!(made["form_uri"].as_str().unwrap().starts_with("http://mocks.test/mock/"));
    let path = format!("/v3.6/checks/{}", made["id"].as_str().unwrap());
    assert_eq!(world.ask_json("POST", &format!("{path}/resume"), &Value::Null).0, 204);
    assert_eq!(world.events(), ["check.form_completed"]);
    world.go_on();
    assert_eq!(get(&mut world, &path)["status"], "complete");
    assert_eq!(world.ask_json("POST", &format!("{path}/resume"), &Value::Null).0, 422);
    world
        .act(MockAction::Move { object: made["id"].as_str().unwrap(), to: Some("reopened") })
        .unwrap();
    assert_eq!(world.events(), ["check.reopened"]);
}

fn run(world: &mut World, applicant: &Value) -> Value {
    let new = json!({"applicant_id": applicant, "workflow_id": "7a4f0000-0000-4000-8000-000000000000", "tags": ["a"]});
    let (status, made) = world.ask_json("POST", "/v3.6/workflow_runs", &new);
    assert_eq!((status, &made["status"]), (201, &json!("awaiting_input")), "{made}");
    world.go_on();
    get(world, &format!("/v3.6/workflow_runs/{}", made["id"].as_str().unwrap()))
}

#[test]
fn every_outcome_comes_by_its_name_and_by_the_setting() {
    for decline in World::of("onfido").provider.declines {
        let mut by_name = World::of("onfido");
        let named = applicant(&mut by_name, decline.triggers[0]);
        let mut by_setting = World::with("onfido", json!({"decline": decline.code}));
        let other = applicant(&mut by_setting, "Lovelace");
        for (world, id) in [(&mut by_name, named), (&mut by_setting, other)] {
            let wanted = if decline.code == "consider" { "review" } else { decline.code };
            assert_eq!(run(world, &id)["status"], wanted);
            let done = ended(world, &id, &json!({}));
            let end = match decline.code {
                "abandoned" | "error" => (json!("withdrawn"), Value::Null),
                _ => (json!("complete"), json!("consider")),
            };
            assert_eq!((&done["status"], &done["result"]), (&end.0, &end.1));
        }
    }
}

#[test]
fn runs_are_told_of_and_listed() {
    let mut world = World::of("onfido");
    let id = applicant(&mut world, "Lovelace");
    for _ in 0..3 {
        assert_eq!(run(&mut world, &id)["status"], "approved");
    }
    let list =
        get(&mut world, "/v3.6/workflow_runs?status=approved,declined&tags=a&sort=asc&per_page=2");
    assert_eq!(list.as_array().unwrap().len(), 2);
    let call = world.request("GET", "/v3.6/workflow_runs?per_page=2", "");
    let reply = world.call(&call).reply;
    let header =
        |name: &str| reply.headers.iter().find(|(it, _)| it == name).map(|(_, it)| it.clone());
    assert_eq!(header("x-total-count").as_deref(), Some("3"));
    assert!(header("link").unwrap().ends_with("page=2&per_page=2>; rel=\"next\""));
    assert_eq!(world.ask_json("GET", "/v3.6/workflow_runs?status=none", &Value::Null).0, 422);
    assert_eq!(world.ask_json("GET", "/v3.6/applicants?per_page=501", &Value::Null).0, 422);
}

#[test]
fn registered_addresses_have_tokens_of_their_own() {
    let mut world = World::of("onfido");
    let new = json!({"url": "https://other.test/h", "events": ["check.completed"]});
    let (status, made) = world.ask_json("POST", "/v3.6/webhooks", &new);
    assert_eq!((status, made["token"].as_str().unwrap().len()), (201, 32));
    let id = applicant(&mut world, "Lovelace");
    let checked = ended(&mut world, &id, &json!({"asynchronous": false}));
    let again = json!({"data": [{"resource_id": checked["id"], "event": "check.completed"}]});
    assert_eq!(world.ask_json("POST", "/v3.6/webhooks/resend", &again).0, 204);
    let sent = world.sent();
    let registered: Vec<_> = sent.iter().filter(|event| event.endpoint.is_some()).collect();
    assert_eq!((registered.len(), registered[0].event.as_str()), (1, "check.completed"));
    let body: Value = serde_json::from_str(&registered[0].body).unwrap();
    assert_eq!(body["payload"]["object"]["status"], "complete");
    let path = format!("/v3.6/webhooks/{}", made["id"].as_str().unwrap());
    assert_eq!(get(&mut world, &path), made);
    assert_eq!(world.ask_json("PUT", &path, &json!({"enabled": false})).0, 200);
    check(&mut world, &id, &json!({"asynchronous": false}));
    assert!(!world.sent().is_empty());
    assert!(world.sent().iter().all(|event| event.endpoint.is_none()));
    assert_eq!(world.ask_json("DELETE", &path, &Value::Null).0, 204);
    assert_eq!(get(&mut world, "/v3.6/webhooks"), json!({"webhooks": []}));
    let wrong = json!({"url": "https://other.test/h", "events": ["none"]});
    assert_eq!(world.ask_json("POST", "/v3.6/webhooks", &wrong).0, 422);
}

#[test]
fn a_client_gets_a_token_and_opens_nothing_else() {
    let mut world = World::of("onfido");
    let form = format!(
        "client_id={}&client_secret={}",
        world.credentials["clientId"], world.credentials["clientSecret"]
    );
    let mut call = world.request("POST", "/v3.6/oauth/token", &form);
    call.headers.truncate(1);
    let reply = world.call(&call).reply;
    assert!(
        reply.status == 200 && reply.body.contains(&world.credentials["apiToken"]),
        "{}",
        reply.body
    );
    call.path = "/v3.6/applicants".to_owned();
    assert_eq!(world.call(&call).reply.status, 401);
    call.path = "/v3.6/oauth/token".to_owned();
    call.body = format!("{form}x").into_bytes();
    let refused = world.call(&call).reply;
    assert!(refused.status == 401 && refused.body.contains("invalid_client"), "{}", refused.body);
    call.body = format!("{form}&grant_type=none").into_bytes();
    assert_eq!(world.call(&call).reply.status, 400);
    let mut call = world.request("GET", "/v3.6/ping", "");
    call.headers[1].1 = format!("Bearer {}", world.credentials["apiToken"]);
    assert_eq!(world.call(&call).reply.status, 200);
}
