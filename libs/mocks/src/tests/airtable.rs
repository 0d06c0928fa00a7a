//! Airtable as its SDKs use it.

use serde_json::{Value, json};

use super::World;

fn table(world: &World) -> String {
    format!("/v0/{}/{}", world.credentials["baseId"], world.credentials["tableId"])
}

fn add(world: &mut World, name: &str, age: u32) -> Value {
    let table = table(world);
    world.ask_json("POST", &table, &json!({"fields": {"Name": name, "Age": age}})).1
}

fn get(world: &mut World, path: &str) -> (u16, Value) {
    world.ask_json("GET", path, &Value::Null)
}

fn names(list: &Value) -> Vec<&str> {
    let records = list["records"].as_array().unwrap();
    records.iter().map(|record| record["fields"]["Name"].as_str().unwrap()).collect()
}

#[test]
fn a_record_lives_and_goes() {
    let mut world = World::of("airtable");
    let made = add(&mut world, "Ada", 36);
    let one = format!("{}/{}", table(&world), made["id"].as_str().unwrap());
    assert_eq!(get(&mut world, &one).1, made);
    let change = json!({"fields": {"Age": null, "City": "London", "Note": ""}});
    let (_, changed) = world.ask_json("PATCH", &one, &change);
    assert_eq!(changed["fields"], json!({"Name": "Ada", "City": "London"}));
    assert_eq!(world.events(), ["record.changed"]);
    let (_, replaced) = world.ask_json("PUT", &one, &json!({"fields": {"Age": 1}}));
    assert_eq!(replaced["fields"], json!({"Age": 1}));
    let gone = world.ask_json("DELETE", &one, &Value::Null);
    assert_eq!(gone, (200, json!({"id": made["id"], "deleted": true})));
    assert_eq!(get(&mut world, &one), (404, json!({"error": "NOT_FOUND"})));
}

#[test]
fn a_batch_keeps_its_order_and_has_its_bound() {
    let mut world = World::of("airtable");
    let path = table(&world);
    let record = |number: usize| json!({"fields": {"Name": format!("n{number}")}});
    let ten: Vec<_> = (0..10).map(record).collect();
    let (_, made) = world.ask_json("POST", &path, &json!({"records": ten}));
    let list = get(&mut world, &path).1;
    assert_eq!(list["records"], made["records"]);
    assert_eq!(names(&list)[9], "n9");
    let eleven = json!({"records": vec![record(1); 11]});
    let (status, error) = world.ask_json("POST", &path, &eleven);
    assert_eq!((status, &error["error"]["type"]), (422, &json!("INVALID_REQUEST_UNKNOWN")));
    let ids: Vec<_> = made["records"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    let change = |id: &Value| json!({"id": id, "fields": {"Done": true}});
    let all: Vec<_> = ids.iter().map(|id| change(id)).collect();
    assert_eq!(world.ask_json("PATCH", &path, &json!({"records": all})).0, 200);
    let query: Vec<_> =
        ids.iter().map(|id| format!("records[]={}", id.as_str().unwrap())).collect();
    let (status, gone) =
        world.ask_json("DELETE", &format!("{path}?{}", query.join("&")), &Value::Null);
    assert_eq!((status, gone["records"].as_array().unwrap().len()), (200, 10));
    let (status, error) = world.ask_json("DELETE", &format!("{path}?{}", query[0]), &Value::Null);
    assert_eq!((status, &error["error"]["type"]), (422, &json!("ROW_DOES_NOT_EXIST")));
}

#[test]
fn an_upsert_makes_or_changes() {
    let mut world = World::of("airtable");
    let known = add(&mut world, "Ada", 36);
    let upsert = json!({
        "performUpsert": {"fieldsToMergeOn": ["Name"]},
        "records": [{"fields": {"Name": "Ada", "Age": 37}}, {"fields": {"Name": "Bob"}}],
    });
    let path = table(&world);
    let (_, answer) = world.ask_json("PATCH", &path, &upsert);
    assert_eq!(answer["updatedRecords"], json!([known["id"]]));
    assert_eq!(answer["createdRecords"].as_array().unwrap().len(), 1);
    assert_eq!(answer["records"][0]["fields"], json!({"Name": "Ada", "Age": 37}));
}

#[test]
fn lists_are_filtered_sorted_and_paged_to_the_end() {
    let mut world = World::of("airtable");
    for (name, age) in [("Ada", 36), ("bob", 9), ("Carol", 100), ("Dan", 50)] {
        add(&mut world, name, age);
    }
    let path = table(&world);
    let older = format!(
        "{path}?filterByFormula=%7BAge%7D%3E9&sort%5B0%5D%5Bfield%5D=Age&sort%5B0%5D%5Bdirection%5D=desc"
    );
    assert_eq!(names(&get(&mut world, &older).1), ["Carol", "Dan", "Ada"]);
    let few = format!("{path}?maxRecords=2&fields%5B%5D=Name&sort%5B0%5D%5Bfield%5D=Name");
    let list = get(&mut world, &few).1;
    assert_eq!(
        (names(&list), &list["records"][0]["fields"]),
        (vec!["Ada", "bob"], &json!({"Name": "Ada"}))
    );
    let (mut offset, mut seen) = (Value::Null, Vec::new());
    loop {
        let body = json!({"pageSize": 3, "offset": offset, "sort": [{"field": "Name"}]});
        let (status, page) = world.ask_json("POST", &format!("{path}/listRecords"), &body);
        assert_eq!(status, 200, "{page}");
        seen.extend(names(&page).into_iter().map(str::to_owned));
        offset = page["offset"].clone();
        if offset.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["Ada", "bob", "Carol", "Dan"]);
    let (status, error) = get(&mut world, &format!("{path}?filterByFormula=NOW()"));
    assert_eq!((status, &error["error"]["type"]), (422, &json!("INVALID_FILTER_BY_FORMULA")));
    assert_eq!(get(&mut world, &format!("{path}?pageSize=101")).0, 422);
    assert_eq!(get(&mut world, &format!("{path}?offset=itr1/rec1")).0, 422);
}

#[test]
fn tables_are_there_once_they_are_written_to() {
    let mut world = World::of("airtable");
    let base = world.credentials["baseId"].clone();
    let people = format!("/v0/{base}/Our%20people");
    assert_eq!(get(&mut world, &people).1, json!({"records": []}));
    world.ask_json("POST", &people, &json!({"fields": {"Name": "Ada", "Age": 1, "Done": true}}));
    add(&mut world, "Bob", 1);
    let (_, schema) = get(&mut world, &format!("/v0/meta/bases/{base}/tables"));
    let found: Vec<_> = schema["tables"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(found, ["Table 1", "Our people"]);
    assert_eq!(schema["tables"][1]["fields"][0]["type"], "number");
    let id = schema["tables"][1]["id"].as_str().unwrap().to_owned();
    assert_eq!(names(&get(&mut world, &format!("/v0/{base}/{id}")).1), ["Ada"]);
    let (status, error) = get(&mut world, &format!("/v0/{base}/tblAAAAAAAAAAAAAA"));
    let wanted = json!("INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND");
    assert_eq!((status, &error["error"]["type"]), (403, &wanted));
    assert_eq!(get(&mut world, "/v0/base/Table").0, 404);
    assert_eq!(get(&mut world, "/v0/meta/bases").1["bases"][0]["id"], json!(base));
}

#[test]
fn webhooks_ping_and_payloads_are_pulled() {
    let mut world = World::of("airtable");
    let base = world.credentials["baseId"].clone();
    let hooks = format!("/v0/bases/{base}/webhooks");
    let specification = json!({"options": {
        "filters": {"dataTypes": ["tableData"], "changeTypes": ["add", "update"]},
        "includes": {"includePreviousCellValues": true},
    }});
    let new = json!({"notificationUrl": "http://app.test/own", "specification": specification});
    let (status, hook) = world.ask_json("POST", &hooks, &new);
    assert_eq!(status, 200, "{hook}");
    let one = format!("{hooks}/{}", hook["id"].as_str().unwrap());
    let made = add(&mut world, "Ada", 36);
    let sent = world.sent();
    // The mock's own address, and the one that was registered.
    assert_eq!(sent.len(), 2);
    assert_eq!(
        (&sent[1].url[..], sent[1].endpoint.as_deref()),
        ("http://app.test/own", hook["id"].as_str())
    );
    let ping: Value = serde_json::from_str(&sent[1].body).unwrap();
    assert_eq!((&ping["base"]["id"], &ping["webhook"]["id"]), (&json!(base), &hook["id"]));
    let id = made["id"].as_str().unwrap();
    let record = format!("{}/{id}", table(&world));
    world.ask_json("PATCH", &record, &json!({"fields": {"Age": 37}}));
    world.ask_json("DELETE", &record, &Value::Null);
    assert_eq!(world.sent().len(), 1, "the registered one does not ask for this");
    let (_, page) = get(&mut world, &format!("{one}/payloads?limit=1"));
    assert_eq!((&page["cursor"], &page["mightHaveMore"]), (&json!(2), &json!(true)));
    let (_, page) = get(&mut world, &format!("{one}/payloads?cursor=2"));
    assert_eq!(
        (page["payloads"].as_array().unwrap().len(), &page["mightHaveMore"]),
        (1, &json!(false))
    );
    let table_id = world.credentials["tableId"].clone();
    let changed = &page["payloads"][0]["changedTablesById"][&table_id]["changedRecordsById"][id];
    let values = |part: &str| {
        changed[part]["cellValuesByFieldId"]
            .as_object()
            .unwrap()
            .values()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!((values("current"), values("previous")), (vec![json!(37)], vec![json!(36)]));
    let (_, listed) = get(&mut world, &hooks);
    let cursors: Vec<_> = listed["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["cursorForNextPayload"].as_u64())
        .collect();
    assert_eq!(cursors, [Some(4), Some(3)]);
    world.ask_json("POST", &format!("{one}/enableNotifications"), &json!({"enable": false}));
    add(&mut world, "Bob", 1);
    assert_eq!(world.sent().len(), 1);
    assert_eq!(world.ask_json("POST", &format!("{one}/refresh"), &Value::Null).0, 200);
    assert_eq!(world.ask_json("DELETE", &one, &Value::Null).0, 200);
    assert_eq!(get(&mut world, &format!("{one}/payloads")).0, 404);
}

#[test]
fn what_is_wrong_is_told() {
    let mut world = World::with("airtable", json!({"decline": "INVALID_PERMISSIONS"}));
    let path = table(&world);
    let (status, error) = world.ask_json("POST", &path, &json!({"fields": {}}));
    assert_eq!((status, &error["error"]["type"]), (403, &json!("INVALID_PERMISSIONS")));
    world.set = json!({});
    let (status, error) = world.ask_json("POST", &path, &json!({"Name": "Ada"}));
    assert_eq!((status, &error["error"]["type"]), (422, &json!("INVALID_REQUEST_MISSING_FIELDS")));
    let hooks = format!("/v0/bases/{}/webhooks", world.credentials["baseId"]);
    let bad = json!({"notificationUrl": "ftp://x", "specification": {"options": {"filters": {"dataTypes": []}}}});
    assert_eq!(world.ask_json("POST", &hooks, &bad).0, 422);
    assert_eq!(world.ask_json("POST", &hooks, &json!({})).0, 422);
}
