//! Tokens, the connection, and the organisation.

use serde_json::json;

use super::wire::{answer, ms_date};
use crate::{
    Chance, MockReply,
    context::CallContext,
    failure::Halt,
    oauth::{self, TokenGrant},
};

/// The path that tells which organisations a token opens.
pub(super) const CONNECTIONS: &str = "/connections";
/// Seconds that a token holds.
const LIFETIME: u32 = 1_800;
const NAME: &str = "Demo Company";

pub(super) fn token(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    oauth::token(context, &TokenGrant { token: "accessToken", lifetime: LIFETIME, default: "" })
}

fn tenant(context: &CallContext<'_>) -> String {
    context.mock.credentials.get("tenantId").cloned().unwrap_or_default()
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn connections(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let tenant = tenant(context);
    let id = Chance::of_text(&format!("connection {tenant}")).uuid(context.now);
    let now = context.now.to_string();
    let now = now.trim_end_matches('Z');
    let connection = json!({
        "id": id, "authEventId": id, "tenantId": tenant, "tenantType": "ORGANISATION",
        "tenantName": NAME, "createdDateUtc": now, "updatedDateUtc": now,
    });
    Ok(MockReply::ok(&json!([connection])))
}

#[expect(clippy::unnecessary_wraps, reason = "what a route takes")]
pub(super) fn organisation(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let organisation = json!({
        "OrganisationID": tenant(context),
        "Name": NAME,
        "LegalName": NAME,
        "PaysTax": true,
        "Version": "UK",
        "OrganisationType": "COMPANY",
        "BaseCurrency": "GBP",
        "CountryCode": "GB",
        "IsDemoCompany": true,
        "OrganisationStatus": "ACTIVE",
        "FinancialYearEndDay": 31,
        "FinancialYearEndMonth": 3,
        "CreatedDateUTC": ms_date(context.now),
        "Timezone": "GMTSTANDARDTIME",
        "OrganisationEntityType": "COMPANY",
        "ShortCode": "!demo",
        "Edition": "BUSINESS",
        "Class": "DEMO",
        "Addresses": [],
        "Phones": [],
        "ExternalLinks": [],
        "PaymentTerms": {},
    });
    let body = answer(context, "Organisations", &[organisation]);
    Ok(MockReply::ok(&body))
}
