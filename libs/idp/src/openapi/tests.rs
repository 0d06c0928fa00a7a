#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::table;

/// Everything under a provider, and what it answers beside what all of them do.
const ENDPOINTS: [(&str, &[&str]); 22] = [
    ("get /.well-known/oauth-authorization-server/idp/{slug}", &["200"]),
    ("get /.well-known/openid-configuration/idp/{slug}", &["200"]),
    ("get /idp/{slug}", &["200"]),
    ("get /idp/{slug}/.well-known/openid-configuration", &["200"]),
    ("get /idp/{slug}/authorize", &["200", "303", "400", "403"]),
    ("post /idp/{slug}/authorize", &["200", "303", "400"]),
    ("get /idp/{slug}/end_session", &["200", "303", "400"]),
    ("post /idp/{slug}/end_session", &["200", "303", "400"]),
    ("post /idp/{slug}/introspect", &["200", "400", "401"]),
    ("get /idp/{slug}/jwks", &["200"]),
    ("get /idp/{slug}/login", &["200", "303", "400", "403", "410"]),
    ("post /idp/{slug}/login", &["200", "303", "400", "403", "410"]),
    ("post /idp/{slug}/revoke", &["200", "400", "401"]),
    ("get /idp/{slug}/saml/certificate", &["200"]),
    ("get /idp/{slug}/saml/metadata", &["200"]),
    ("get /idp/{slug}/saml/slo", &["200", "303", "400"]),
    ("post /idp/{slug}/saml/slo", &["200", "400"]),
    ("get /idp/{slug}/saml/sso", &["200", "303", "400", "403"]),
    ("post /idp/{slug}/saml/sso", &["200", "303", "400"]),
    ("post /idp/{slug}/token", &["200", "400", "401"]),
    ("get /idp/{slug}/userinfo", &["200", "401", "403"]),
    ("post /idp/{slug}/userinfo", &["200", "400", "401", "403"]),
];
/// Answers of every endpoint, the last of those that take a body.
const SHARED: [&str; 5] = ["404", "429", "500", "503", "413"];

fn document() -> Value {
    serde_json::to_value(table().into_openapi()).unwrap()
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value["$ref"].as_str();
    reference.map_or(value, |at| document.pointer(at.trim_start_matches('#')).unwrap())
}

#[test]
fn every_endpoint_says_what_it_answers() {
    let document = document();
    let mut found = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found += 1;
            let name = format!("{method} {path}");
            let answers = operation["responses"].as_object().unwrap();
            let mut statuses: Vec<_> = answers.keys().collect();
            statuses.sort_unstable();
            let (_, own) = ENDPOINTS.iter().find(|(known, _)| *known == name).unwrap();
            let shared = if method == "post" { &SHARED[..] } else { &SHARED[..4] };
            let mut wanted = [own, shared].concat();
            wanted.sort_unstable();
            assert_eq!(statuses, wanted, "{name}");
            for (status, answer) in answers {
                let answer = resolve(&document, answer);
                assert!(answer["description"].as_str().unwrap().len() > 5, "{name} {status}");
                let is_empty = status == "303" || (path.ends_with("/revoke") && status == "200");
                assert_eq!(answer["content"].is_null(), is_empty, "{name} {status}");
                assert_eq!(answer["headers"]["Location"].is_object(), status == "303", "{name}");
            }
        }
    }
    assert_eq!(found, ENDPOINTS.len());
}

#[test]
fn every_endpoint_has_what_all_have_in_common() {
    let document = document();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert_eq!(operation["tags"], json!(["Identity provider protocol"]), "{method} {path}");
            assert_eq!(operation["security"], json!([{}]), "{method} {path}");
            let slug = &operation["parameters"][0];
            assert_eq!((&slug["name"], &slug["in"]), (&json!("slug"), &json!("path")), "{path}");
            for told in ["summary", "description", "operationId"] {
                assert!(operation[told].is_string(), "{method} {path} has no {told}");
            }
            let body = &operation["requestBody"]["content"];
            assert_eq!(body.is_object(), method == "post", "{method} {path}");
            for kind in body.as_object().into_iter().flatten().map(|(kind, _)| kind) {
                assert_eq!(kind, "application/x-www-form-urlencoded", "{path}");
            }
        }
    }
    assert_eq!(document["tags"][0]["name"], "Identity provider protocol");
}

#[test]
fn what_a_query_takes_a_form_takes_too() {
    let document = document();
    for path in ["authorize", "end_session", "saml/sso", "saml/slo"] {
        let item = &document["paths"][format!("/idp/{{slug}}/{path}")];
        let schema =
            &item["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"];
        let members = resolve(&document, schema)["properties"].as_object().unwrap();
        let parameters = item["get"]["parameters"].as_array().unwrap().iter().skip(1);
        let parameters: BTreeSet<_> = parameters.map(|it| it["name"].as_str().unwrap()).collect();
        let members: BTreeSet<_> = members.keys().map(String::as_str).collect();
        assert_eq!(members, parameters, "{path}");
    }
}
