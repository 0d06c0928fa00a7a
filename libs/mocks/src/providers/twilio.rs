//! Twilio: messages, calls, numbers, verifications and lookups of API 2010-04-01, Verify v2 and Lookups v2.

mod calls;
mod lists;
mod lookups;
mod messages;
mod numbers;
mod verify;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Decline, Make, ObjectKind, Provider, Sign, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    flow::{Simulation, Trigger},
    provider::{Hooks, Idempotency, MockRoute, OwnSetting, Sdk},
    sign::{Algorithm, KeyForm, SignatureText},
};

/// The table.
pub(super) static TWILIO: Provider = Provider {
    id: "twilio",
    name: "Twilio",
    category: MockCategory::Messaging,
    credentials: &[
        Credential { name: "secretKey", make: Make::Text("{hex:32}") },
        Credential { name: "accountSid", make: Make::Text("AC{hex:18}{slug}") },
    ],
    auth: &[&[
        Check { place: CredentialPlace::BasicUser, is: "accountSid" },
        Check { place: CredentialPlace::BasicPassword, is: "secretKey" },
    ]],
    live: &[],
    own_settings: &[OwnSetting {
        name: "code",
        description: "The code that Verify takes as the right one.",
        default: "123456",
    }],
    declines: DECLINES,
    kinds: &[
        ObjectKind { name: "deliveries", prefix: "SM", letters: 32 },
        ObjectKind { name: "calls", prefix: "CA", letters: 32 },
        ObjectKind { name: "numbers", prefix: "PN", letters: 32 },
        ObjectKind { name: "services", prefix: "VA", letters: 32 },
        ObjectKind { name: "verifications", prefix: "VE", letters: 32 },
    ],
    logs: &[],
    idempotency: Idempotency::None,
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: &[
            "message.sent",
            "message.delivered",
            "message.undelivered",
            "message.failed",
            "message.canceled",
            "message.inbound",
            "call.initiated",
            "call.ringing",
            "call.answered",
            "call.completed",
            "call.inbound",
        ],
        scheme: SigningScheme::Signed {
            secret: "secretKey",
            signs: &[Sign {
                algorithm: Algorithm::HmacSha1,
                key: KeyForm::Text,
                over: "{url}{params}",
                text: SignatureText::Base64,
                headers: &[("x-twilio-signature", "{sig}")],
            }],
        },
        endpoints: None,
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "twilio", version: "9.13.0" },
        Sdk { language: "node", package: "twilio", version: "6.3.1" },
    ],
    divergences: &[
        "A call to +15005550012 is busy, one to +15005550013 is not answered, and one to +15005550014 fails: these numbers are not Twilio's. No `Url` is asked for TwiML, and none is run: an answered call ends by itself. Media, recordings and conferences are not there.",
        "Without a StatusCallback, the mock's address is told of all that becomes of a call; with one, of the events that it asks for. `trigger` with `call.inbound` or `message.inbound` tells the address of the number that is called, if the mock has it.",
        "A message goes from queued to sent and delivered, without accepted, scheduled and sending.",
        "Any From number is fine, unless the setting strict is on. Unlike with Twilio's own test credentials, status callbacks are sent.",
    ],
    error: wire::error,
    finish: wire::finish,
};

pub(super) static SIMULATION: Simulation = Simulation {
    provider: "twilio",
    flows: &[messages::FLOW, calls::FLOW],
    triggers: &[
        Trigger { event: "message.inbound", run: messages::inbound },
        Trigger { event: "call.inbound", run: calls::inbound },
    ],
};

const DECLINES: &[Decline] = &[
    Decline::new("21211", &["to:+15005550001"], "Invalid 'To' Phone Number"),
    Decline::new(
        "21612",
        &["to:+15005550002"],
        "Message cannot be sent with the current combination of 'To' and/or 'From' parameters",
    ),
    Decline::new(
        "21408",
        &["to:+15005550003"],
        "Permission to send an SMS has not been enabled for the region indicated by the 'To' number",
    ),
    Decline::new("21610", &["to:+15005550004"], "Attempt to send to unsubscribed recipient"),
    Decline::new("21614", &["to:+15005550009"], "'To' number is not a valid mobile number"),
    Decline::new(
        "21212",
        &["from:+15005550001", "call-from:+15005550001"],
        "Invalid 'From' Number",
    ),
    Decline::new(
        "21606",
        &["from:+15005550007"],
        "The 'From' number is not a valid, SMS-capable Twilio phone number",
    ),
    Decline::new(
        "21611",
        &["from:+15005550008"],
        "This 'From' number has exceeded the maximum number of queued messages",
    ),
    Decline::new("21217", &["call-to:+15005550001"], "Phone number does not appear to be valid"),
    Decline::new("21214", &["call-to:+15005550002"], "'To' phone number cannot be reached"),
    Decline::new(
        "21215",
        &["call-to:+15005550003"],
        "Geo Permission configuration is not permitting call",
    ),
    Decline::new("21216", &["call-to:+15005550004"], "Account not allowed to call phone number"),
    Decline::new("21422", &["buy:+15005550000"], "PhoneNumber is not available"),
    Decline::new("21421", &["buy:+15005550001"], "PhoneNumber is invalid"),
    Decline::new("21452", &["area:533"], "No phone numbers found in the area code"),
];

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", "/2010-04-01/Accounts/{account}/Messages.json", messages::create),
    MockRoute("GET", "/2010-04-01/Accounts/{account}/Messages.json", messages::list),
    MockRoute("GET", "/2010-04-01/Accounts/{account}/Messages/{id}.json", messages::get),
    MockRoute("POST", "/2010-04-01/Accounts/{account}/Messages/{id}.json", messages::redact),
    MockRoute("DELETE", "/2010-04-01/Accounts/{account}/Messages/{id}.json", messages::delete),
    MockRoute("POST", "/2010-04-01/Accounts/{account}/Calls.json", calls::create),
    MockRoute("GET", "/2010-04-01/Accounts/{account}/Calls.json", calls::list),
    MockRoute("GET", "/2010-04-01/Accounts/{account}/Calls/{id}.json", calls::get),
    MockRoute("POST", "/2010-04-01/Accounts/{account}/Calls/{id}.json", calls::update),
    MockRoute("DELETE", "/2010-04-01/Accounts/{account}/Calls/{id}.json", calls::delete),
    MockRoute("POST", "/2010-04-01/Accounts/{account}/IncomingPhoneNumbers.json", numbers::create),
    MockRoute("GET", "/2010-04-01/Accounts/{account}/IncomingPhoneNumbers.json", numbers::list),
    MockRoute("GET", "/2010-04-01/Accounts/{account}/IncomingPhoneNumbers/{id}.json", numbers::get),
    MockRoute(
        "POST",
        "/2010-04-01/Accounts/{account}/IncomingPhoneNumbers/{id}.json",
        numbers::update,
    ),
    MockRoute(
        "DELETE",
        "/2010-04-01/Accounts/{account}/IncomingPhoneNumbers/{id}.json",
        numbers::delete,
    ),
    MockRoute("POST", "/verify/v2/Services", verify::create_service),
    MockRoute("GET", "/verify/v2/Services", verify::list_services),
    MockRoute("POST", "/verify/v2/Services/{id}", verify::update_service),
    MockRoute("DELETE", "/verify/v2/Services/{id}", verify::delete_service),
    MockRoute("GET", "/verify/v2/Services/{id}", verify::get_service),
    MockRoute("POST", "/verify/v2/Services/{service}/Verifications", verify::start),
    MockRoute("GET", "/verify/v2/Services/{service}/Verifications/{id}", verify::get),
    MockRoute("POST", "/verify/v2/Services/{service}/Verifications/{id}", verify::update),
    MockRoute("POST", "/verify/v2/Services/{service}/VerificationCheck", verify::check),
    MockRoute("GET", "/lookups/v2/PhoneNumbers/{number}", lookups::get),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/2010-04-01/Accounts/{{accountSid}}/Messages.json -u {{accountSid}}:{{secretKey}} \\\n  \
                   -d To=+15005550010 -d From=+15005550006 -d Body=Hello\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: r#"from twilio.rest import Client

client = Client("{{accountSid}}", "{{secretKey}}")
client.api.base_url = "{{baseUrl}}"
client.verify.base_url = "{{baseUrl}}/verify"
client.lookups.base_url = "{{baseUrl}}/lookups"
client.messages.list(limit=1)
"#,
    },
    Snippet {
        language: "python",
        purpose: "webhook",
        template: r#"from urllib.parse import parse_qsl

from twilio.request_validator import RequestValidator

def verify(headers, body, url):
    form = dict(parse_qsl(body.decode(), keep_blank_values=True))
    validator = RequestValidator("{{secretKey}}")
    if not validator.validate(url, form, headers["x-twilio-signature"]):
        raise ValueError("the signature is wrong")
    return form
"#,
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: r#"const twilio = require("twilio");

const client = twilio("{{accountSid}}", "{{secretKey}}");
client.api.baseUrl = "{{baseUrl}}";
client.verify.baseUrl = "{{baseUrl}}/verify";
client.lookups.baseUrl = "{{baseUrl}}/lookups";
const first = client.messages.list({ limit: 1 });
"#,
    },
    Snippet {
        language: "node",
        purpose: "webhook",
        template: r#"const { validateRequest } = require("twilio");

function verify(headers, body, url) {
  const form = Object.fromEntries(new URLSearchParams(body));
  if (!validateRequest("{{secretKey}}", headers["x-twilio-signature"], url, form)) {
    throw new Error("the signature is wrong");
  }
  return form;
}
"#,
    },
];
