//! Calls to begin with: what applications do with each provider, and every operation once.

use trapline_mocks::ALL;

/// The provider and its headers, and calls; braces name a credential, or a text at the top of an earlier reply.
const SESSIONS: &[&str] = &[
    "stripe\nauthorization: Bearer {secretKey}\ncontent-type: application/x-www-form-urlencoded\n%%\n\
     POST /v1/customers\nidempotency-key: k1\n\nemail=ada%40app.test&metadata[plan]=pro\n%%\n\
     POST /v1/payment_intents\n\namount=1000&currency=usd&confirm=true&payment_method=pm_card_visa&customer={id}\n%%\n\
     POST /v1/refunds\n\npayment_intent={id}&amount=300\n%%\nGET /v1/events?limit=3&type=charge.refunded\n%%\n\
     POST /v1/checkout/sessions\n\nmode=payment&success_url=http://app.test/ok&line_items[0][quantity]=2&\
     line_items[0][price_data][currency]=eur&line_items[0][price_data][unit_amount]=500&\
     line_items[0][price_data][product_data][name]=Tea\n%%\nPOST /v1/checkout/sessions/{id}/expire\n",
    "stripe\nauthorization: Basic {secretKey}:\n%%\nPOST /v1/webhook_endpoints\n\
     content-type: application/x-www-form-urlencoded\n\nurl=http://app.test/w&enabled_events[]=*\n%%\n\
     POST /v1/setup_intents\ncontent-type: application/x-www-form-urlencoded\n\n\
     confirm=true&payment_method=pm_card_authenticationRequired&return_url=http://app.test/\n%%\n\
     GET /v1/payment_intents?limit=100&starting_after={id}&expand[]=data.customer\n",
    "twilio\nauthorization: Basic {accountSid}:{secretKey}\ncontent-type: application/x-www-form-urlencoded\n%%\n\
     POST /2010-04-01/Accounts/{accountSid}/Messages.json\n\nTo=%2B15005550010&From=%2B15005550006&Body=Hello&\
     StatusCallback=http://app.test/status\n%%\nGET /2010-04-01/Accounts/{accountSid}/Messages/{sid}.json\n%%\n\
     GET /2010-04-01/Accounts/{accountSid}/Messages.json?PageSize=2&Page=0&DateSent>=2026-01-01\n%%\n\
     POST /verify/v2/Services\n\nFriendlyName=App&CodeLength=6\n%%\nPOST /verify/v2/Services/{sid}/Verifications\n\n\
     To=%2B4915112345678&Channel=sms\n%%\nGET /lookups/v2/PhoneNumbers/%2B4915112345678?Fields=line_type_intelligence\n",
    "plaid\ncontent-type: application/json\nplaid-client-id: {clientId}\nplaid-secret: {secretKey}\n%%\n\
     POST /sandbox/public_token/create\n\n{\"institution_id\":\"ins_109508\",\"initial_products\":[\"transactions\",\"auth\"],\
     \"options\":{\"webhook\":\"http://app.test/item\"}}\n%%\nPOST /item/public_token/exchange\n\n\
     {\"public_token\":\"{public_token}\"}\n%%\nPOST /transactions/sync\n\n{\"access_token\":\"{access_token}\",\"count\":50}\n%%\n\
     POST /transactions/sync\n\n{\"access_token\":\"{access_token}\",\"cursor\":\"{next_cursor}\"}\n%%\nPOST /transactions/get\n\n\
     {\"access_token\":\"{access_token}\",\"start_date\":\"2026-01-01\",\"end_date\":\"2026-12-31\",\"options\":{\"offset\":1}}\n%%\n\
     POST /sandbox/transactions/create\n\n{\"access_token\":\"{access_token}\",\"transactions\":[{\"amount\":1.5,\
     \"date_posted\":\"2027-01-14\",\"date_transacted\":\"2027-01-14\",\"description\":\"Tea\"}]}\n%%\nPOST /identity/get\n\n\
     {\"access_token\":\"{access_token}\",\"options\":{\"account_ids\":[]}}\n",
    "plaid\ncontent-type: application/json\n%%\nPOST /link/token/create\n\n{\"client_id\":\"{clientId}\",\"secret\":\"{secretKey}\",\
     \"client_name\":\"App\",\"country_codes\":[\"US\"],\"language\":\"en\",\"products\":[\"auth\"],\"user\":{\"client_user_id\":\"7\"}}\n%%\n\
     POST /institutions/get\n\n{\"client_id\":\"{clientId}\",\"secret\":\"{secretKey}\",\"count\":2,\"offset\":0,\"country_codes\":[\"US\"]}\n",
    "hubspot\nauthorization: Bearer {accessToken}\ncontent-type: application/json\n%%\nPOST /crm/v3/objects/contacts\n\n\
     {\"properties\":{\"email\":\"ada@app.test\",\"age\":36}}\n%%\nPATCH /crm/v3/objects/contacts/{id}\n\n\
     {\"properties\":{\"city\":\"London\"}}\n%%\nGET /crm/v3/objects/contacts/ada@app.test?idProperty=email&properties=age,city\n%%\n\
     POST /crm/v3/objects/contacts/search\n\n{\"filterGroups\":[{\"filters\":[{\"propertyName\":\"age\",\"operator\":\"BETWEEN\",\
     \"value\":\"9\",\"highValue\":\"50\"}]}],\"sorts\":[{\"propertyName\":\"age\",\"direction\":\"DESCENDING\"}],\"limit\":2,\"after\":\"1\"}\n%%\n\
     POST /crm/v3/objects/deals/batch/create\n\n{\"inputs\":[{\"properties\":{\"dealname\":\"a\"}},{\"properties\":{\"amount\":\"1\"}}]}\n",
    "onfido\nauthorization: Token token={apiToken}\n%%\nPOST /v3.6/applicants\ncontent-type: application/json\n\n\
     {\"first_name\":\"Ada\",\"last_name\":\"Lovelace\",\"dob\":\"1815-12-10\"}\n%%\nPOST /v3.6/documents\n\
     content-type: multipart/form-data; boundary=xx\n\n--xx\r\nContent-Disposition: form-data; name=\"applicant_id\"\r\n\r\n\
     {id}\r\n--xx\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\npassport\r\n--xx\r\nContent-Disposition: form-data; \
     name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--xx--\r\n\n%%\nPOST /v3.6/checks\n\
     content-type: application/json\n\n{\"applicant_id\":\"{applicant_id}\",\"report_names\":[\"document\"],\"document_ids\":[\"{id}\"]}\n%%\n\
     GET /v3.6/checks?applicant_id={applicant_id}\n%%\nPOST /v3.6/webhooks\ncontent-type: application/json\n\n\
     {\"url\":\"https://app.test/w\",\"events\":[\"check.completed\"]}\n",
    "docusign\nauthorization: Bearer {accessToken}\ncontent-type: application/json\n%%\n\
     POST /restapi/v2.1/accounts/{accountId}/envelopes\n\n{\"emailSubject\":\"Sign\",\"status\":\"sent\",\"documents\":[{\"documentId\":1,\
     \"name\":\"C\",\"documentBase64\":\"JVBERg==\"}],\"recipients\":{\"signers\":[{\"email\":\"ada@app.test\",\"name\":\"Ada\",\
     \"recipientId\":1,\"routingOrder\":1,\"clientUserId\":\"7\"}]}}\n%%\nGET /restapi/v2.1/accounts/{accountId}/envelopes/{envelopeId}/documents/combined\n%%\n\
     PUT /restapi/v2.1/accounts/{accountId}/envelopes/{envelopeId}\n\n{\"status\":\"voided\",\"voidedReason\":\"no\"}\n%%\n\
     POST /restapi/v2.1/accounts/{accountId}/envelopes/{envelopeId}/views/recipient\n\n{\"returnUrl\":\"http://app.test/\",\
     \"clientUserId\":\"7\",\"email\":\"ada@app.test\",\"userName\":\"Ada\",\"authenticationMethod\":\"none\"}\n%%\n\
     GET /restapi/v2.1/accounts/{accountId}/envelopes?from_date=2026-01-01&status=sent&count=1\n",
    "docusign\n%%\nPOST /oauth/token\nauthorization: Basic {integrationKey}:{clientSecret}\ncontent-type: application/x-www-form-urlencoded\n\n\
     grant_type=authorization_code&code=c\n%%\nPOST /oauth/token\ncontent-type: application/x-www-form-urlencoded\n\n\
     grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.x\n",
    "segment\nauthorization: Basic {writeKey}:\ncontent-type: application/json\n%%\nPOST /v1/batch\n\n{\"batch\":[{\"type\":\"track\",\
     \"userId\":\"ada\",\"event\":\"Signed Up\",\"messageId\":\"m1\",\"timestamp\":\"2026-01-02T03:04:05.000Z\"},{\"type\":\"identify\",\
     \"anonymousId\":\"a\",\"traits\":{\"plan\":\"free\"}}],\"sentAt\":\"2026-01-02T03:04:06.000Z\",\"context\":{\"app\":\"x\"}}\n%%\n\
     POST /v1/alias\n\n{\"userId\":\"ada\",\"previousId\":\"a\"}\n%%\nPOST /v1/group\n\n{\"userId\":7,\"groupId\":\"g\",\"traits\":{}}\n",
    "airtable\nauthorization: Bearer {accessToken}\ncontent-type: application/json\n%%\nPOST /v0/{baseId}/{tableId}\n\n\
     {\"records\":[{\"fields\":{\"Name\":\"Ada\",\"Age\":36}},{\"fields\":{\"Name\":\"Bob\"}}]}\n%%\nPOST /v0/{baseId}/{tableId}\n\n\
     {\"fields\":{\"Name\":\"Eve\"},\"typecast\":true}\n%%\nPATCH /v0/{baseId}/{tableId}/{id}\n\n{\"fields\":{\"Age\":null}}\n%%\n\
     GET /v0/{baseId}/{tableId}?maxRecords=2&pageSize=1&sort[0][field]=Name&sort[0][direction]=desc&filterByFormula=AND({Age}>3,FIND('a',{Name}))\n%%\n\
     PATCH /v0/{baseId}/{tableId}\n\n{\"performUpsert\":{\"fieldsToMergeOn\":[\"Name\"]},\"records\":[{\"fields\":{\"Name\":\"Ada\",\"Age\":1}}]}\n%%\n\
     POST /v0/bases/{baseId}/webhooks\n\n{\"notificationUrl\":\"http://app.test/w\",\"specification\":{\"options\":{\"filters\":{\"dataTypes\":[\"tableData\"]}}}}\n%%\n\
     GET /v0/bases/{baseId}/webhooks/{id}/payloads?cursor=1&limit=2\n",
    "xero\nauthorization: Bearer {accessToken}\nxero-tenant-id: {tenantId}\ncontent-type: application/json\n%%\n\
     PUT /api.xro/2.0/Invoices\n\n{\"Invoices\":[{\"Type\":\"ACCREC\",\"Contact\":{\"Name\":\"Ada Ltd\"},\"Status\":\"AUTHORISED\",\"DueDate\":\"2026-02-01\",\
     \"LineItems\":[{\"Description\":\"Work\",\"Quantity\":3,\"UnitAmount\":33.33,\"TaxType\":\"OUTPUT2\"},{\"LineAmount\":10,\"TaxAmount\":1.5}]}]}\n%%\n\
     PUT /api.xro/2.0/Payments\n\n{\"Payments\":[{\"Invoice\":{\"InvoiceNumber\":\"INV-0001\"},\"Account\":{\"Code\":\"090\"},\"Amount\":100.0}]}\n%%\n\
     GET /api.xro/2.0/Invoices?where=Status==\"AUTHORISED\"%20AND%20Total>1&order=Date%20DESC&page=1&pageSize=1\n%%\n\
     GET /api.xro/2.0/Invoices/INV-0001\n%%\nPOST /api.xro/2.0/Contacts?summarizeErrors=false\n\n{\"Contacts\":[{\"Name\":\"Bob\"},{\"Name\":\"\"}]}\n",
    "xero\n%%\nPOST /connect/token\nauthorization: Basic {clientId}:{clientSecret}\ncontent-type: application/x-www-form-urlencoded\n\n\
     grant_type=client_credentials&scope=a\n%%\nGET /connections\nauthorization: Bearer {accessToken}\n",
];

/// Parts of calls, and what decoders look for.
#[rustfmt::skip]
pub(crate) const TOKENS: &[&[u8]] = &[
    b"\n%%\n", b"\n\n", b"\r\n", b"\0", b"\xFF", b"\xC3", b"\xE2\x80\xAE", b"%", b"%00", b"%2F", b"%FF", b"&", b"=", b"[]",
    b"[0]", b"[99999]", b"[a]", b"[a][b]", b"[", b"]", b"{", b"}", b"{}", b"\"", b"\\", b"\\u0000", b"\\ud800", b"null", b"true",
    b"-1", b"0", b"1e999", b"1.5", b"18446744073709551616", b"-9223372036854775808", b"\"\"", b"[]", b",", b":", b"{id}", b"{sid}",
    b"content-encoding: gzip\n", b"content-encoding: deflate\n", b"content-encoding: br\n", b"content-type: multipart/form-data\n",
    b"content-type: multipart/form-data; boundary=\n", b"content-type: application/json\n", b"--xx\r\n", b"--xx--", b"filename=\"",
    b"content-type: application/x-www-form-urlencoded\n", b"idempotency-key: k1\n", b"authorization: Basic :\n", b"GET /", b"POST /",
    b"DELETE /", b"/..", b"//", b"?limit=", b"?page=", b"&where=", b"&order=", b"==", b" AND ", b"(", b")", b"'", b"DateTime(2026,1,1)",
    b"2026-02-30", b"2026-01-02T03:04:05Z", b"9999-12-31", b"0000-00-00", b"/Date(1)/", b"4242424242424242", b"http://", b"javascript:",
    b"+15005550001", b"pm_card_chargeDeclined", b"expand[]=", b"starting_after=", b"cursor=", b"offset=", b"filterByFormula=",
];

/// The sessions, a session of every operation, and calls that are long.
pub(crate) fn all() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = SESSIONS.iter().map(|session| session.as_bytes().to_vec()).collect();
    for provider in ALL {
        let own = SESSIONS.iter().find(|session| session.starts_with(provider.id));
        let head = own.and_then(|session| session.split("\n%%\n").next()).unwrap_or(provider.id);
        for (method, path) in provider.operations() {
            let call = format!("{head}\n%%\n{method} {path}\n\n{{\"id\":\"{{id}}\"}}\n");
            all.push(call.into_bytes());
        }
        let post = provider.operations().find(|(method, _)| *method == "POST");
        let (method, path) = post.unwrap_or(("POST", "/"));
        for body in [
            deep(b"[", 60_000),
            deep(b"{\"a\":", 20_000),
            deep(b"a[b]", 20_000),
            deep(b"a=1&", 20_000),
        ] {
            let call = format!("{head}\n%%\n{method} {path}\n\n");
            all.push([call.into_bytes(), body].concat());
        }
    }
    all
}

fn deep(unit: &[u8], times: usize) -> Vec<u8> {
    unit.repeat(times)
}
