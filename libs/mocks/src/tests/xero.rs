//! Xero as its SDKs use it.

use serde_json::{Value, json};

use super::World;
use crate::Chance;

const API: &str = "/api.xro/2.0";

fn put(world: &mut World, of_type: &str, documents: &Value) -> (u16, Value) {
    world.ask_json("PUT", &format!("{API}/{of_type}"), &json!({of_type: documents}))
}

fn post(world: &mut World, of_type: &str, documents: &Value) -> (u16, Value) {
    world.ask_json("POST", &format!("{API}/{of_type}"), &json!({of_type: documents}))
}

fn get(world: &mut World, path: &str) -> (u16, Value) {
    world.ask_json("GET", &format!("{API}/{path}"), &Value::Null)
}

fn invoice(status: &str) -> Value {
    json!({
        "Type": "ACCREC", "Contact": {"Name": "Ada Ltd"}, "Status": status, "DueDate": "2026-02-01",
        "LineItems": [
            {"Description": "Work", "Quantity": 3, "UnitAmount": 33.33, "TaxType": "OUTPUT2"},
            {"Description": "Parts", "LineAmount": 10, "TaxAmount": 1.5},
        ],
    })
}

fn message(error: &Value) -> &str {
    error["Elements"][0]["ValidationErrors"][0]["Message"].as_str().unwrap_or_default()
}

#[test]
fn an_invoice_is_paid_in_parts() {
    let mut world = World::of("xero");
    let (status, made) = put(&mut world, "Invoices", &json!([invoice("AUTHORISED")]));
    assert_eq!(status, 200, "{made}");
    assert_eq!(world.events(), ["CONTACT.CREATE", "INVOICE.CREATE"]);
    let invoice = &made["Invoices"][0];
    let amounts =
        ["SubTotal", "TotalTax", "Total", "AmountDue", "AmountPaid"].map(|it| invoice[it].clone());
    assert_eq!(json!(amounts), json!([109.99, 21.5, 131.49, 131.49, 0.0]));
    assert_eq!(invoice["InvoiceNumber"], "INV-0001");
    assert_eq!(invoice["DueDate"], "/Date(1769904000000+0000)/");
    let pay = |amount: f64| json!([{"Invoice": {"InvoiceNumber": "inv-0001"}, "Account": {"Code": "090"}, "Amount": amount}]);
    let (_, paid) = put(&mut world, "Payments", &pay(100.0));
    assert_eq!(paid["Payments"][0]["Status"], "AUTHORISED");
    let (status, error) = put(&mut world, "Payments", &pay(31.5));
    assert_eq!(
        (status, message(&error)),
        (400, "Payment amount exceeds the amount outstanding on this document")
    );
    let voided = json!([{"InvoiceNumber": "INV-0001", "Status": "VOIDED"}]);
    assert_eq!(post(&mut world, "Invoices", &voided).0, 400, "it has payments");
    put(&mut world, "Payments", &pay(31.49));
    assert_eq!(world.events(), ["INVOICE.UPDATE"]);
    let (_, found) = get(&mut world, "Invoices/INV-0001");
    assert_eq!(
        (&found["Invoices"][0]["Status"], &found["Invoices"][0]["AmountDue"]),
        (&json!("PAID"), &json!(0.0))
    );
    assert_eq!(put(&mut world, "Payments", &pay(1.0)).0, 400);
    let id = paid["Payments"][0]["PaymentID"].as_str().unwrap();
    let gone = json!({"Payments": [{"Status": "DELETED"}]});
    assert_eq!(world.ask_json("POST", &format!("{API}/Payments/{id}"), &gone).0, 200);
    let (_, found) = get(&mut world, "Invoices/INV-0001");
    assert_eq!(
        (&found["Invoices"][0]["Status"], &found["Invoices"][0]["AmountDue"]),
        (&json!("AUTHORISED"), &json!(100.0))
    );
}

#[test]
fn an_invoice_moves_only_where_it_may() {
    let mut world = World::of("xero");
    let (_, made) = put(&mut world, "Invoices", &json!([invoice("DRAFT")]));
    let id = made["Invoices"][0]["InvoiceID"].as_str().unwrap().to_owned();
    let path = format!("{API}/Invoices/{id}");
    for (status, wanted) in [
        ("PAID", 400),
        ("SUBMITTED", 200),
        ("AUTHORISED", 200),
        ("DRAFT", 400),
        ("VOIDED", 200),
        ("AUTHORISED", 400),
    ] {
        let change = json!({"Invoices": [{"Status": status}]});
        assert_eq!(world.ask_json("POST", &path, &change).0, wanted, "{status}");
    }
    assert_eq!(
        world.objects("records").iter().filter(|it| it.state.as_deref() == Some("VOIDED")).count(),
        1
    );
}

#[test]
fn what_breaks_a_rule_is_refused_alone_or_with_all() {
    let mut world = World::of("xero");
    let both = json!({"Invoices": [invoice("DRAFT"), {"Type": "ACCREC"}]});
    let (status, error) = world.ask_json("PUT", &format!("{API}/Invoices"), &both);
    assert_eq!(
        (status, &error["Type"], error["ErrorNumber"].as_u64()),
        (400, &json!("ValidationException"), Some(10))
    );
    assert!(world.objects("records").is_empty());
    let (status, answer) =
        world.ask_json("PUT", &format!("{API}/Invoices?summarizeErrors=false"), &both);
    let found: Vec<_> = answer["Invoices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["StatusAttributeString"])
        .collect();
    assert_eq!((status, found), (200, vec![&json!("OK"), &json!("ERROR")]));
    let cases = [
        ("Contacts", json!([{"EmailAddress": "a@a.test"}])),
        ("Contacts", json!([{"Name": "ada ltd"}])),
        ("Items", json!([{"Name": "no code"}])),
        ("Accounts", json!([{"Code": "200", "Name": "Sales"}])),
        ("BankTransactions", json!([{"Type": "SPEND", "Contact": {"Name": "x"}}])),
        ("CreditNotes", json!([{"Type": "ACCREC", "Contact": {"Name": "x"}}])),
        ("Invoices", json!([{"Type": "ACCREC", "Contact": {"Name": "x"}, "Status": "AUTHORISED"}])),
        ("Invoices", json!([{"Type": "ACCREC", "Contact": {"Name": "x"}, "Date": "soon"}])),
        ("Invoices", json!([{"Type": "ACCREC", "Contact": {"ContactID": "none"}}])),
        ("Payments", json!([{"Invoice": {"InvoiceNumber": "none"}, "Amount": 1}])),
        ("Invoices", json!([])),
        ("Invoices", json!("x")),
        ("Invoices", json!([1])),
    ];
    for (of_type, documents) in cases {
        let (status, error) = put(&mut world, of_type, &documents);
        assert!(status == 400 && !message(&error).is_empty(), "{of_type}: {documents}: {error}");
    }
    let lenient = format!("{API}/Contacts?summarizeErrors=false");
    for odd in [json!(7), json!([]), json!({"Contacts": [7]}), json!({"Contacts": [[]]})] {
        assert_eq!(world.ask_json("POST", &lenient, &odd).0, 400, "{odd}");
    }
    world.set = json!({"decline": "PeriodLocked"});
    let (status, error) = put(&mut world, "Contacts", &json!([{"Name": "Bob"}]));
    assert_eq!(
        (status, message(&error)),
        (400, "The document date cannot be before the period lock date.")
    );
}

#[test]
fn a_call_asks_for_all_that_it_names_at_once() {
    let mut world = World::of("xero");
    let contact = |number: usize| json!({"Name": format!("Customer {number}")});
    let contacts: Vec<_> = (0..12).map(contact).collect();
    assert_eq!(put(&mut world, "Contacts", &json!(contacts)).0, 200);
    let bill = |number: usize| json!({"Type": "ACCREC", "Contact": contact(number)});
    let bills: Vec<_> = (6..18).map(bill).collect();
    assert_eq!(put(&mut world, "Invoices", &json!(bills)).0, 200);
    assert_eq!(world.objects("records").len(), 12 + 12 + 6);
    let change =
        |number: usize| json!({"InvoiceNumber": format!("INV-{number:04}"), "Status": "DELETED"});
    let changes: Vec<_> = (1..13).map(change).collect();
    assert_eq!(post(&mut world, "Invoices", &json!(changes)).0, 200);
}

#[test]
fn documents_are_named_by_number_and_changed_by_post() {
    let mut world = World::of("xero");
    put(&mut world, "Items", &json!([{"Code": "A1", "Name": "Bolt"}]));
    let (_, changed) = post(
        &mut world,
        "Items",
        &json!([{"Code": "A1", "Name": "Nut"}, {"Code": "A2", "Name": "Cog"}]),
    );
    assert_eq!(changed["Items"][0]["Name"], "Nut");
    assert_eq!(get(&mut world, "Items").1["Items"].as_array().unwrap().len(), 2);
    assert_eq!(put(&mut world, "Items", &json!([{"Code": "A1"}])).0, 400);
    assert_eq!(world.ask_json("DELETE", &format!("{API}/Items/A1"), &Value::Null).0, 204);
    assert_eq!(get(&mut world, "Items/A1").0, 404);
    assert_eq!(put(&mut world, "Items", &json!([{"Code": "A1"}])).0, 200, "the code is free again");
    assert_eq!(world.ask_json("DELETE", &format!("{API}/Contacts/x"), &Value::Null).0, 404);
    let (_, note) = put(
        &mut world,
        "CreditNotes",
        &json!([{"Type": "ACCRECCREDIT", "Contact": {"Name": "Ada"}}]),
    );
    assert_eq!(note["CreditNotes"][0]["CreditNoteNumber"], "CN-0001");
    let bank = json!([{
        "Type": "SPEND", "Contact": {"Name": "Ada"}, "BankAccount": {"Code": "090"}, "LineAmountTypes": "Inclusive",
        "LineItems": [{"Description": "x", "UnitAmount": 12, "TaxType": "INPUT2"}],
    }]);
    let (_, spent) = put(&mut world, "BankTransactions", &bank);
    let spent = &spent["BankTransactions"][0];
    assert_eq!(
        (&spent["SubTotal"], &spent["TotalTax"], &spent["Total"]),
        (&json!(10.0), &json!(2.0), &json!(12.0))
    );
    let contacts = get(&mut world, "Contacts").1;
    assert_eq!(contacts["Contacts"].as_array().unwrap().len(), 1, "the one that was named twice");
}

#[test]
fn lists_are_filtered_sorted_and_paged() {
    let mut world = World::of("xero");
    for name in ["Ada", "bob", "Carol", "Dan", "Eve"] {
        put(
            &mut world,
            "Contacts",
            &json!([{"Name": name, "EmailAddress": format!("{name}@a.test")}]),
        );
    }
    let names = |list: &Value| {
        let contacts = list["Contacts"].as_array().unwrap().iter();
        contacts.map(|it| it["Name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for page in 1..=3 {
        let (_, list) =
            get(&mut world, &format!("Contacts?page={page}&pageSize=2&order=Name%20DESC"));
        assert_eq!(list["pagination"]["pageCount"], 3);
        seen.extend(names(&list));
    }
    assert_eq!(seen, ["Eve", "Dan", "Carol", "bob", "Ada"]);
    let cases = [
        ("where=Name%3D%3D%22Ada%22", 1),
        ("where=Name.Contains(%22a%22)", 3),
        ("searchTerm=carol", 1),
        ("where=EmailAddress%21%3Dnull+AND+Name%3E%3D%22D%22", 2),
        ("IDs=none", 0),
    ];
    for (query, wanted) in cases {
        assert_eq!(
            names(&get(&mut world, &format!("Contacts?{query}")).1).len(),
            wanted,
            "{query}"
        );
    }
    let (status, error) = get(&mut world, "Contacts?where=Name~1");
    assert_eq!((status, &error["Type"]), (400, &json!("QueryParseException")));
    assert_eq!(get(&mut world, "Contacts?page=0").0, 400);
    let archived = json!([{"Name": "Ada", "ContactStatus": "ARCHIVED"}]);
    post(&mut world, "Contacts", &archived);
    assert_eq!(names(&get(&mut world, "Contacts").1).len(), 4);
    assert_eq!(names(&get(&mut world, "Contacts?includeArchived=true").1).len(), 5);
}

#[test]
fn tokens_connections_and_keys() {
    let mut world = World::of("xero");
    let (id, secret) =
        (world.credentials["clientId"].clone(), world.credentials["clientSecret"].clone());
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let mut call = world.request("POST", "/connect/token", &form);
    call.headers.truncate(1);
    let reply = world.call(&call).reply;
    let token: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(token["access_token"].as_str(), Some(world.credentials["accessToken"].as_str()));
    call.body = b"grant_type=client_credentials&client_id=x&client_secret=y".to_vec();
    assert_eq!(world.call(&call).reply.status, 401);
    let mut call = world.request("GET", "/connections", "");
    call.headers.retain(|(name, _)| name != "xero-tenant-id");
    let connections: Value = serde_json::from_str(&world.call(&call).reply.body).unwrap();
    assert_eq!(connections[0]["tenantId"].as_str(), Some(world.credentials["tenantId"].as_str()));
    call.path = format!("{API}/Contacts");
    assert_eq!(world.call(&call).reply.status, 401, "without the tenant");
    assert_eq!(get(&mut world, "Organisation").1["Organisations"][0]["BaseCurrency"], "GBP");
    let body = json!({"Contacts": [{"Name": "Ada"}]}).to_string();
    let mut call = world.request("PUT", &format!("{API}/Contacts"), &body);
    call.headers[0].1 = "application/json".to_owned();
    call.headers.push(("idempotency-key".to_owned(), "k".to_owned()));
    let (first, again) = (world.call(&call), world.call(&call));
    assert!(again.replayed && first.reply.body == again.reply.body);
}

#[test]
fn the_intent_to_receive_is_asked_for_twice() {
    let world = World::of("xero");
    let asked = world.provider.handshake_with("http://app.test/", &Chance::new([1; 32]));
    let ways: Vec<_> = asked.iter().map(|it| (it.bad_signature, it.expects)).collect();
    assert_eq!(ways, [(false, Some(200)), (true, Some(401))]);
    for event in &asked {
        let body: Value = serde_json::from_str(&event.body).unwrap();
        assert_eq!((&body["events"], &body["lastEventSequence"]), (&json!([]), &json!(0)));
        assert!(world.provider.is_handshake(event));
    }
    assert_ne!(asked[0].body, asked[1].body, "each has an entropy of its own");
    assert!(world.provider.has_passed(&[401, 200]) && !world.provider.has_passed(&[200]));
    let other = World::of("stripe").provider;
    assert!(other.handshake_with("http://app.test/", &Chance::new([1; 32])).is_empty());
    assert!(other.has_passed(&[]));
}
