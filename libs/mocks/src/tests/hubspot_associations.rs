//! `HubSpot`'s associations, merges and upserts as its SDKs use them.

use serde_json::{Value, json};

use super::World;

fn made(world: &mut World, of_type: &str, properties: &Value) -> String {
    let input = json!({"properties": properties});
    let (status, made) = world.ask_json("POST", &format!("/crm/v3/objects/{of_type}"), &input);
    assert_eq!(status, 201, "{made}");
    made["id"].as_str().unwrap().to_owned()
}

/// A contact and a company.
fn two(world: &mut World) -> (String, String) {
    let ada = made(world, "contacts", &json!({"email": "ada@a.test"}));
    (ada, made(world, "companies", &json!({"name": "Ada Ltd"})))
}

fn others(world: &mut World, of: &str, id: &str, to: &str) -> Value {
    world.ask_json("GET", &format!("/crm/v4/objects/{of}/{id}/associations/{to}"), &Value::Null).1
}

#[test]
fn two_objects_are_joined_and_parted_from_both_sides() {
    let mut world = World::of("hubspot");
    let (ada, ltd) = two(&mut world);
    let usual = format!("/crm/v4/objects/contacts/{ada}/associations/default/companies/{ltd}");
    let (status, joined) = world.ask_json("PUT", &usual, &Value::Null);
    let number = &joined["results"][0]["associationSpec"]["associationTypeId"];
    assert_eq!((status, number), (200, &json!(279)), "{joined}");
    assert_eq!(world.events(), ["contact.associationChange", "company.associationChange"]);
    let told: Value = serde_json::from_str(&world.sent()[0].body).unwrap();
    assert_eq!(told[0]["associationType"], "CONTACT_TO_COMPANY");
    assert_eq!(world.ask_json("PUT", &usual, &Value::Null).0, 200);
    assert!(world.events().is_empty(), "nothing is another");
    let labelled = format!("/crm/v4/objects/contact/{ada}/associations/company/{ltd}");
    let primary = json!([{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 1}]);
    let (status, shown) = world.ask_json("PUT", &labelled, &primary);
    assert_eq!((status, &shown["labels"]), (201, &json!(["Primary"])), "{shown}");
    let back = others(&mut world, "companies", &ltd, "contacts");
    let types = back["results"][0]["associationTypes"].as_array().unwrap();
    let numbers: Vec<_> = types.iter().map(|it| it["typeId"].clone()).collect();
    assert_eq!(
        (&back["results"][0]["toObjectId"], numbers),
        (&json!(ada), vec![json!(280), json!(2)])
    );
    let with = format!("/crm/v3/objects/contacts/{ada}?associations=companies");
    let (_, shown) = world.ask_json("GET", &with, &Value::Null);
    let wanted = json!({"results": [{"id": ltd, "type": "contact_to_company"}]});
    assert_eq!(shown["associations"]["companies"], wanted);
    assert_eq!(world.ask_json("DELETE", &labelled, &Value::Null).0, 204);
    assert_eq!(world.events().len(), 2);
    assert_eq!(others(&mut world, "companies", &ltd, "contacts")["results"], json!([]));
    assert_eq!(world.ask_json("DELETE", &labelled, &Value::Null).0, 204);
    assert!(world.events().is_empty());
}

#[test]
fn what_cannot_be_associated_is_told() {
    let mut world = World::of("hubspot");
    let (ada, ltd) = two(&mut world);
    let wrong_type = json!([{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 3}]);
    let cases = [
        (format!("contacts/{ada}/associations/companies/{ltd}"), wrong_type, 400),
        (format!("contacts/{ada}/associations/default/companies/999"), Value::Null, 404),
        (format!("contacts/{ltd}/associations/default/companies/{ltd}"), Value::Null, 404),
        (format!("contacts/{ada}/associations/default/cars/{ltd}"), Value::Null, 400),
        (format!("contacts/{ada}/associations/default/products/{ltd}"), Value::Null, 400),
        (format!("contacts/{ada}/associations/default/contacts/{ada}"), Value::Null, 400),
    ];
    for (path, body, wanted) in cases {
        let (status, error) = world.ask_json("PUT", &format!("/crm/v4/objects/{path}"), &body);
        assert_eq!(status, wanted, "{path}: {error}");
    }
}

#[test]
fn batches_join_read_and_part() {
    let mut world = World::of("hubspot");
    let ada = made(&mut world, "contacts", &json!({"email": "ada@a.test"}));
    let deals: Vec<_> =
        (0..5).map(|at| made(&mut world, "deals", &json!({"dealname": at.to_string()}))).collect();
    let path = |verb: &str| format!("/crm/v4/associations/contacts/deals/batch/{verb}");
    let pair = |deal: &String| json!({"from": {"id": ada}, "to": {"id": deal}});
    let usual = json!({"inputs": deals[..3].iter().map(pair).collect::<Vec<_>>()});
    let (status, joined) = world.ask_json("POST", &path("associate/default"), &usual);
    assert_eq!((status, joined["results"].as_array().unwrap().len()), (200, 3), "{joined}");
    let types = json!([{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 4}]);
    let labelled = |deal: &String| json!({"from": {"id": ada}, "to": {"id": deal}, "types": types});
    let labelled = json!({"inputs": deals[3..].iter().map(labelled).collect::<Vec<_>>()});
    assert_eq!(world.ask_json("POST", &path("create"), &labelled).0, 201);
    let read = json!({"inputs": [{"id": ada}, {"id": "999"}]});
    let (_, found) = world.ask_json("POST", &path("read"), &read);
    assert_eq!(found["results"][0]["to"].as_array().unwrap().len(), 5);
    let (mut after, mut seen) = ("0".to_owned(), Vec::new());
    loop {
        let page =
            format!("/crm/v4/objects/contacts/{ada}/associations/deals?limit=2&after={after}");
        let (_, page) = world.ask_json("GET", &page, &Value::Null);
        seen.extend(page["results"].as_array().unwrap().iter().map(|it| it["toObjectId"].clone()));
        match &page["paging"]["next"]["after"] {
            Value::String(next) => after.clone_from(next),
            _ => break,
        }
    }
    assert_eq!(seen, deals);
    let one = format!("/crm/v3/objects/deals/{}", deals[0]);
    assert_eq!(world.ask_json("DELETE", &one, &Value::Null).0, 204);
    assert_eq!(
        others(&mut world, "contacts", &ada, "deals")["results"].as_array().unwrap().len(),
        4
    );
    let gone =
        json!({"inputs": [{"from": {"id": ada}, "to": [{"id": deals[1]}, {"id": deals[2]}]}]});
    assert_eq!(world.ask_json("POST", &path("archive"), &gone).0, 204);
    assert_eq!(
        others(&mut world, "contacts", &ada, "deals")["results"].as_array().unwrap().len(),
        2
    );
    let labels = "/crm/v4/associations/contacts/companies/labels";
    let (_, labels) = world.ask_json("GET", labels, &Value::Null);
    assert_eq!(labels["results"][1]["label"], "Primary");
}

#[test]
fn a_new_object_is_associated_at_once() {
    let mut world = World::of("hubspot");
    let (ada, _) = two(&mut world);
    let of = |number: u64| {
        let types =
            json!([{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": number}]);
        json!({"properties": {"dealname": "Big"}, "associations": [{"to": {"id": ada}, "types": types}]})
    };
    assert_eq!(world.ask_json("POST", "/crm/v3/objects/deals", &of(3)).0, 201);
    let wanted = ["deal.creation", "deal.associationChange", "contact.associationChange"];
    assert_eq!(world.events(), wanted);
    assert_eq!(world.ask_json("POST", "/crm/v3/objects/deals", &of(279)).0, 400);
    assert_eq!(
        others(&mut world, "contacts", &ada, "deals")["results"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn one_contact_takes_in_another() {
    let mut world = World::of("hubspot");
    let ada = made(&mut world, "contacts", &json!({"email": "ada@a.test", "city": "Ulm"}));
    let bob =
        made(&mut world, "contacts", &json!({"email": "bob@a.test", "city": "Bonn", "age": "9"}));
    let merge = json!({"primaryObjectId": ada, "objectIdToMerge": bob});
    let (status, kept) = world.ask_json("POST", "/crm/v3/objects/contacts/merge", &merge);
    let properties = &kept["properties"];
    assert_eq!(
        (status, &properties["city"], &properties["age"]),
        (200, &json!("Ulm"), &json!("9"))
    );
    assert_eq!(properties["email"], "ada@a.test");
    assert_eq!(world.events(), ["contact.merge"]);
    assert_eq!(world.ask_json("POST", "/crm/v3/objects/contacts/merge", &merge).0, 404);
    let itself = json!({"primaryObjectId": ada, "objectIdToMerge": ada});
    assert_eq!(world.ask_json("POST", "/crm/v3/objects/contacts/merge", &itself).0, 400);
    made(&mut world, "contacts", &json!({"email": "bob@a.test"}));
}

#[test]
fn a_batch_changes_what_is_there_and_makes_the_rest() {
    let mut world = World::of("hubspot");
    made(&mut world, "contacts", &json!({"email": "ada@a.test"}));
    let input =
        |email: &str| json!({"id": email, "idProperty": "email", "properties": {"age": "1"}});
    let inputs = json!({"inputs": [input("ADA@a.test"), input("bob@a.test")]});
    let path = "/crm/v3/objects/contacts/batch/upsert";
    let (status, done) = world.ask_json("POST", path, &inputs);
    let is_new: Vec<_> = done["results"].as_array().unwrap().iter().map(|it| &it["new"]).collect();
    assert_eq!((status, is_new), (200, vec![&json!(false), &json!(true)]), "{done}");
    assert_eq!(world.objects("records").len(), 2);
    let unknown = json!({"inputs": [{"id": "999", "properties": {"age": "1"}}]});
    assert_eq!(world.ask_json("POST", path, &unknown).0, 404);
    let new = json!({"id": "new@a.test", "idProperty": "email", "properties": "x"});
    for odd in [json!([1]), json!(["x"]), json!([[]]), json!([null]), json!([new])] {
        let (status, error) = world.ask_json("POST", path, &json!({"inputs": odd}));
        assert_eq!(status, 400, "{odd} {error}");
    }
}
