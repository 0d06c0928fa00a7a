//! `HubSpot` as its SDKs use it.

use serde_json::{Value, json};

use super::World;

const CONTACTS: &str = "/crm/v3/objects/contacts";

fn contact(world: &mut World, email: &str, age: u32) -> (u16, Value) {
    let input = json!({"properties": {"email": email, "age": age}});
    world.ask_json("POST", CONTACTS, &input)
}

#[test]
fn an_object_lives_and_goes() {
    let mut world = World::of("hubspot");
    let (status, made) = contact(&mut world, "Ada@example.com", 36);
    assert_eq!(
        (status, &made["id"], &made["properties"]["age"]),
        (201, &json!("101"), &json!("36"))
    );
    assert_eq!(world.events(), ["contact.creation"]);
    let told: Value = serde_json::from_str(&world.sent()[0].body).unwrap();
    assert_eq!((&told[0]["objectId"], &told[0]["changeFlag"]), (&json!(101), &json!("CREATED")));
    let by_email = format!("{CONTACTS}/ada@example.com?idProperty=email");
    assert_eq!(world.ask_json("GET", &by_email, &Value::Null).1["id"], "101");
    let change = json!({"properties": {"age": 37, "city": "London"}});
    let one = format!("{CONTACTS}/101");
    assert_eq!(world.ask_json("PATCH", &one, &change).1["properties"]["city"], "London");
    assert_eq!(world.events(), ["contact.propertyChange", "contact.propertyChange"]);
    let other = "/crm/v3/objects/deals/101";
    assert_eq!(world.ask_json("GET", other, &Value::Null).1["category"], "OBJECT_NOT_FOUND");
    assert_eq!(world.ask_json("DELETE", &one, &Value::Null).0, 204);
    assert_eq!(world.events(), ["contact.deletion"]);
    assert_eq!(world.ask_json("GET", &one, &Value::Null).0, 404);
    assert_eq!(contact(&mut world, "ada@example.com", 1).0, 201, "the address is free again");
}

#[test]
fn an_address_is_one_contacts() {
    let mut world = World::of("hubspot");
    contact(&mut world, "ada@example.com", 1);
    let (status, error) = contact(&mut world, "ADA@example.com", 2);
    let message = json!("Contact already exists. Existing ID: 101");
    assert_eq!(
        (status, &error["category"], &error["message"]),
        (409, &json!("CONFLICT"), &message)
    );
    contact(&mut world, "bob@example.com", 3);
    let change = json!({"properties": {"email": "ada@example.com"}});
    assert_eq!(world.ask_json("PATCH", &format!("{CONTACTS}/102"), &change).0, 409);
    let change = json!({"properties": {"email": "carol@example.com"}});
    assert_eq!(world.ask_json("PATCH", &format!("{CONTACTS}/102"), &change).0, 200);
    assert_eq!(contact(&mut world, "bob@example.com", 4).0, 201);
}

#[test]
fn the_search_filters_sorts_and_pages() {
    let mut world = World::of("hubspot");
    for (email, age) in [("ada@a.test", 36), ("bob@b.test", 9), ("carol@a.test", 100)] {
        contact(&mut world, email, age);
    }
    let filter = |operator: &str, value: &str| {
        let filter = json!({"propertyName": "age", "operator": operator, "value": value, "highValue": "50", "values": ["9", "36"]});
        json!({"filterGroups": [{"filters": [filter]}]})
    };
    let cases = [
        ("EQ", "36", 1),
        ("NEQ", "36", 2),
        ("GT", "9", 2),
        ("LTE", "36", 2),
        ("BETWEEN", "9", 2),
        ("IN", "", 2),
        ("NOT_IN", "", 1),
        ("HAS_PROPERTY", "", 3),
        ("NOT_HAS_PROPERTY", "", 0),
    ];
    let search = format!("{CONTACTS}/search");
    for (operator, value, total) in cases {
        let (_, found) = world.ask_json("POST", &search, &filter(operator, value));
        assert_eq!(found["total"], total, "{operator} {value}: {found}");
    }
    assert_eq!(world.ask_json("POST", &search, &filter("LIKE", "")).0, 400);
    let query = json!({"query": "a.test", "sorts": [{"propertyName": "age", "direction": "DESCENDING"}], "limit": 1});
    let (_, page) = world.ask_json("POST", &search, &query);
    assert_eq!(
        (&page["total"], &page["results"][0]["id"], &page["paging"]["next"]["after"]),
        (&json!(2), &json!("103"), &json!("1"))
    );
}

#[test]
fn lists_are_paged_to_the_end() {
    let mut world = World::of("hubspot");
    for number in 0..5 {
        contact(&mut world, &format!("{number}@a.test"), number);
    }
    let (mut after, mut seen) = ("0".to_owned(), Vec::new());
    loop {
        let (_, page) =
            world.ask_json("GET", &format!("{CONTACTS}?limit=2&after={after}"), &Value::Null);
        seen.extend(page["results"].as_array().unwrap().iter().map(|it| it["id"].clone()));
        match &page["paging"]["next"]["after"] {
            Value::String(next) => after.clone_from(next),
            _ => break,
        }
    }
    assert_eq!(seen, ["101", "102", "103", "104", "105"]);
}

#[test]
fn a_batch_asks_for_all_that_it_names_at_once() {
    let mut world = World::of("hubspot");
    let input = |number: usize| json!({"properties": {"email": format!("n{number}@a.test")}});
    let inputs: Vec<_> = (0..40).map(input).collect();
    let path = |action: &str| format!("{CONTACTS}/batch/{action}");
    assert_eq!(world.ask_json("POST", &path("create"), &json!({"inputs": inputs})).0, 201);
    let ids: Vec<_> = (101..141).map(|id| json!({"id": id.to_string()})).collect();
    let (_, read) = world.ask_json("POST", &path("read"), &json!({"inputs": ids}));
    assert_eq!(read["results"].as_array().unwrap().len(), 40);
    let emails: Vec<_> = (0..40).map(|number| json!({"id": format!("N{number}@a.test")})).collect();
    let by_email = json!({"idProperty": "email", "inputs": emails});
    let (_, read) = world.ask_json("POST", &path("read"), &by_email);
    assert_eq!(read["results"].as_array().unwrap().len(), 40);
    assert_eq!(world.ask_json("POST", &path("archive"), &json!({"inputs": ids})).0, 204);
    assert!(world.objects("records").is_empty());
}

#[test]
fn a_batch_is_all_or_nothing() {
    let mut world = World::of("hubspot");
    let input = |email: &str| json!({"properties": {"email": email}});
    let both = json!({"inputs": [input("a@a.test"), input("a@a.test")]});
    assert_eq!(world.ask_json("POST", &format!("{CONTACTS}/batch/create"), &both).0, 409);
    assert!(world.objects("records").is_empty());
    let both = json!({"inputs": [input("a@a.test"), input("b@a.test")]});
    let (status, made) = world.ask_json("POST", &format!("{CONTACTS}/batch/create"), &both);
    assert_eq!((status, &made["status"]), (201, &json!("COMPLETE")));
    let ids = json!({"inputs": [{"id": "101"}, {"id": "999"}]});
    let (_, read) = world.ask_json("POST", &format!("{CONTACTS}/batch/read"), &ids);
    assert_eq!(read["results"].as_array().unwrap().len(), 1);
    assert_eq!(world.ask_json("POST", &format!("{CONTACTS}/batch/archive"), &ids).0, 204);
    assert_eq!(world.objects("records").len(), 1);
    let mut declined = World::with("hubspot", json!({"decline": "FORBIDDEN"}));
    assert_eq!(contact(&mut declined, "a@a.test", 1).1["category"], "MISSING_SCOPES");
}
