//! Segment: the HTTP Tracking API, v1.

mod events;
mod profiles;
mod wire;

use trapline_model::MockCategory;

use crate::{
    Credential, Make, ObjectKind, Provider, SigningScheme, Snippet,
    auth::{Check, CredentialPlace},
    provider::{Hooks, Idempotency, MockRoute, Sdk},
};

/// The table.
pub(super) static SEGMENT: Provider = Provider {
    id: "segment",
    name: "Segment",
    category: MockCategory::Analytics,
    credentials: &[Credential { name: "writeKey", make: Make::Text("{slug}{base62:18}") }],
    auth: &[
        &[Check { place: CredentialPlace::BasicUser, is: "writeKey" }],
        &[Check { place: CredentialPlace::Field("writeKey"), is: "writeKey" }],
    ],
    live: &[],
    own_settings: &[],
    declines: &[],
    kinds: &[
        ObjectKind { name: "events", prefix: "", letters: 0 },
        ObjectKind { name: "profiles", prefix: "", letters: 0 },
    ],
    logs: &["events"],
    idempotency: Idempotency::None,
    max_body: 1 << 20,
    routes: ROUTES,
    hooks: Hooks {
        events: &[],
        scheme: SigningScheme::Unsigned,
        endpoints: None,
        expects: None,
        handshake: None,
    },
    snippets: SNIPPETS,
    sdks: &[
        Sdk { language: "python", package: "segment-analytics-python", version: "2.4.0" },
        Sdk { language: "node", package: "@segment/analytics-node", version: "3.1.0" },
    ],
    divergences: &[
        "A wrong write key is 401 `invalid_write_key`; Segment answers 200 and drops the event.",
        "An event of a type that there is not, and a batch with one, is 400; Segment answers 200 and drops it.",
        "Events are not handed on to destinations, and there are no settings, sources or cookies of analytics.js.",
        "A profile is what `identify` and `group` said of a user or group, in the order in which it came; `alias` gives a user the traits of the previous id.",
    ],
    error: wire::error,
    finish: wire::finish,
};

const ROUTES: &[MockRoute] = &[
    MockRoute("POST", "/v1/batch", events::batch),
    MockRoute("POST", "/v1/import", events::batch),
    MockRoute("POST", "/v1/track", events::track),
    MockRoute("POST", "/v1/identify", events::identify),
    MockRoute("POST", "/v1/page", events::page),
    MockRoute("POST", "/v1/screen", events::screen),
    MockRoute("POST", "/v1/group", events::group),
    MockRoute("POST", "/v1/alias", events::alias),
];

const SNIPPETS: &[Snippet] = &[
    Snippet {
        language: "curl",
        purpose: "connect",
        template: "curl {{baseUrl}}/v1/track -u {{writeKey}}: \\\n  \
                   -H 'Content-Type: application/json' -d '{\"userId\": \"ada\", \"event\": \"Signed Up\"}'\n",
    },
    Snippet {
        language: "python",
        purpose: "connect",
        template: r#"from segment.analytics.client import Client

client = Client("{{writeKey}}", host="{{baseUrl}}", sync_mode=True)
client.track(user_id="ada", event="Signed Up")
"#,
    },
    Snippet {
        language: "node",
        purpose: "connect",
        template: r#"const { Analytics } = require("@segment/analytics-node");

const client = new Analytics({
  writeKey: "{{writeKey}}",
  host: "{{scheme}}://{{host}}:{{port}}",
  path: "{{path}}/v1/batch",
});
client.track({ userId: "ada", event: "Signed Up" });
"#,
    },
];
