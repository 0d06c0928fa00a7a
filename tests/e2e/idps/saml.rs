//! SAML: sign-ins and logouts by service providers that know nothing of this service, and what is refused.

mod clients;
mod messages;
mod requests;
mod sessions;

use std::collections::HashMap;

use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment, Rest};

use super::{path_of, rp::Rp};
use messages::{AuthnRequest, deflated};

/// The application's entity id, and where it takes answers.
const SP: &str = "https://sp.example";
const ACS: &str = "https://sp.example/acs";

/// A provider that knows its service provider, and signs its only user in without asking.
async fn provider(server: &Deployment) -> Rp {
    let rp = Rp::new(server).await;
    rp.set(json!({ "samlAcsUrl": ACS, "samlSpEntityId": SP })).await;
    rp
}

/// The fields of a form that is to be sent on, and where it goes.
struct Form {
    action: String,
    fields: HashMap<String, String>,
    /// Whether it goes without a click.
    is_sent: bool,
}

impl Form {
    fn of(answer: &Answer) -> Self {
        let page = answer.text();
        let part = |from: &str, name: &str| {
            let rest = from.split_once(&format!("{name}=\"")).map(|(_, rest)| rest);
            let value = rest.and_then(|rest| rest.split('"').next());
            unescaped(value.unwrap_or_else(|| panic!("no {name} in {page}")))
        };
        let form = page.split_once("<form").unwrap_or_else(|| panic!("no form in {page}")).1;
        let inputs = form.split("<input ").skip(1);
        let fields = inputs.map(|input| (part(input, "name"), part(input, "value"))).collect();
        Self { action: part(form, "action"), fields, is_sent: page.contains("<script>") }
    }

    /// The response that the form has.
    fn response(&self) -> String {
        let bytes = data_encoding::BASE64.decode(self.fields["SAMLResponse"].as_bytes()).unwrap();
        String::from_utf8(bytes).unwrap()
    }
}

fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (name, letter)| text.replace(name, letter))
}

/// Asks for a sign-in by the Redirect binding.
async fn ask(rp: &Rp, request: &AuthnRequest, more: &[(&str, &str)]) -> Answer {
    redirect(rp.rest(), &rp.path("saml/sso"), &request.xml(), more).await
}

async fn redirect(rest: &Rest, path: &str, xml: &str, more: &[(&str, &str)]) -> Answer {
    let message = deflated(xml);
    let own = ("SAMLRequest", message.as_str());
    let query: Vec<_> = std::iter::once(&own).chain(more).collect();
    Answer::to(rest.request("GET", path).query(&query)).await
}

/// The value of an attribute's first appearance in a message.
fn attribute(xml: &str, name: &str) -> String {
    let rest = xml.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{name}: {xml}")).1;
    rest.split('"').next().unwrap().to_owned()
}

/// The newest entry of the log.
async fn newest(rp: &Rp) -> Value {
    rp.log().await.remove(0)
}
