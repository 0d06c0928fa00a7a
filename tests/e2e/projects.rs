//! Projects.

use serde_json::json;
use trapline_tests::{Inbox, shared};

#[tokio::test]
async fn projects_are_made_listed_renamed_and_removed() {
    let server = shared();
    let rest = server.rest();
    let project =
        rest.post("/api/projects", json!({ "name": "Checkout" })).await.expect(201).json();
    let id = project["id"].as_str().unwrap();
    assert_eq!(project["name"], "Checkout");
    assert!(project["createdAt"].as_str().unwrap().ends_with('Z'));
    let path = format!("/api/projects/{id}");
    let renamed = rest.patch(&path, json!({ "name": "Käse" })).await.expect(200).json();
    assert_eq!((&renamed["id"], renamed["name"].as_str()), (&project["id"], Some("Käse")));
    let list = rest.get("/api/projects").await.expect(200).json();
    assert!(list.as_array().unwrap().contains(&renamed), "{list}");
    let found = rest.query("/api/projects", &[("name", "Käse"), ("limit", "200")]).await;
    assert!(found.expect(200).json().as_array().unwrap().contains(&renamed));

    rest.delete(&path).await.expect(204);
    rest.delete(&path).await.error(404);
    rest.patch(&path, json!({ "name": "x" })).await.error(404);
    let list = rest.get("/api/projects").await.expect(200).json();
    assert!(!list.as_array().unwrap().contains(&renamed), "{list}");
}

#[tokio::test]
async fn a_removed_project_leaves_its_inboxes() {
    let server = shared();
    let rest = server.rest();
    let project =
        rest.post("/api/projects", json!({ "name": "Gone soon" })).await.expect(201).json();
    let body = json!({ "name": "Stays", "projectId": project["id"] });
    let record = rest.post("/api/inboxes", body).await.expect(201).json();
    assert_eq!(record["projectId"], project["id"]);
    let inbox = Inbox::of(&record);
    rest.delete(&format!("/api/projects/{}", project["id"].as_str().unwrap())).await.expect(204);
    let record = rest.get(&inbox.path("")).await.expect(200).json();
    assert_eq!(record["projectId"], json!(null));
}

#[tokio::test]
async fn an_inbox_moves_between_projects() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let project = rest.post("/api/projects", json!({ "name": "P" })).await.expect(201).json();
    for to in [&project["id"], &json!(null)] {
        let moved =
            rest.patch(&inbox.path(""), json!({ "projectId": to })).await.expect(200).json();
        assert_eq!(&moved["projectId"], to);
    }
    let foreign = server.client(server.second_team().key());
    let other = foreign.post("/api/projects", json!({ "name": "Q" })).await.expect(201).json();
    for unknown in [&other["id"], &json!(inbox.id)] {
        let answer = rest.patch(&inbox.path(""), json!({ "projectId": unknown })).await.error(400);
        assert_eq!(answer.issues(), ["projectId"]);
    }
}
