//! Requests to begin with: whole sign-ins, as libraries have them, and messages of service providers.

/// The kind of a provider and headers of all requests, and the requests.
const SESSIONS: &[&str] = &[
    "auto\ncontent-type: application/x-www-form-urlencoded\n%%\n\
     GET /idp/{slug}/authorize?client_id={client}&response_type=code&scope=openid+profile+email+offline_access&\
     redirect_uri=https%3A%2F%2Fapp.test%2Fcallback&state=s&nonce=n&\
     code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\n%%\n\
     POST /idp/{slug}/token\nauthorization: Basic {client}:{secret}\n\n\
     grant_type=authorization_code&code={code}&redirect_uri=https%3A%2F%2Fapp.test%2Fcallback&\
     code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\n%%\n\
     GET /idp/{slug}/userinfo\nauthorization: Bearer {access_token}\n%%\n\
     POST /idp/{slug}/token\n\ngrant_type=refresh_token&refresh_token={refresh_token}&client_id={client}&client_secret={secret}\n%%\n\
     POST /idp/{slug}/introspect\n\ntoken={access_token}&client_id={client}&client_secret={secret}\n%%\n\
     POST /idp/{slug}/revoke\n\ntoken={refresh_token}&token_type_hint=refresh_token&client_id={client}&client_secret={secret}\n%%\n\
     GET /idp/{slug}/end_session?id_token_hint={id_token}&post_logout_redirect_uri=https%3A%2F%2Fapp.test%2F&state=s\n",
    "auto\ncontent-type: application/x-www-form-urlencoded\n%%\n\
     GET /idp/{slug}/authorize?client_id={client}&response_type=code&response_mode=form_post&scope=openid&\
     redirect_uri=http%3A%2F%2F127.0.0.1%3A41234%2Fcb&state=%3Cb%3E%22&login_hint=ada%40app.test&max_age=10&acr_values=a+b&\
     claims=%7B%22userinfo%22%3A%7B%22name%22%3A%7B%22essential%22%3Atrue%7D%7D%2C%22id_token%22%3A%7B%22sub%22%3A%7B%22value%22%3A%22x%22%7D%7D%7D\n%%\n\
     GET /idp/{slug}/authorize?client_id={client}&response_type=code&response_mode=fragment&prompt=none&scope=openid&\
     redirect_uri=https%3A%2F%2Fapp.test%2Fcallback&resource=https%3A%2F%2Fapi.test&resource=urn%3Ab&mock_fault=wrong_nonce\n%%\n\
     POST /idp/{slug}/token\n\ngrant_type=client_credentials&scope=a+b&resource=https%3A%2F%2Fapi.test&client_id={client}&client_secret={secret}\n%%\n\
     POST /idp/{slug}/userinfo\n\naccess_token={access_token}\n",
    "asked\ncontent-type: application/x-www-form-urlencoded\n%%\n\
     POST /idp/{slug}/authorize\n\nclient_id={client}&response_type=code&scope=openid&prompt=login&state=s&\
     redirect_uri=https%3A%2F%2Fapp.test%2Fcallback&login_hint=fault:clock_skew=90;ada@app.test\n%%\n\
     GET /idp/{slug}/login?rid={rid}&q=ada&page=1\n%%\n\
     POST /idp/{slug}/login\nsec-fetch-site: same-origin\n\nrid={rid}&user={user}\n%%\n\
     GET /idp/{slug}/authorize?client_id={client}&response_type=code&scope=openid&prompt=none&\
     redirect_uri=https%3A%2F%2Fapp.test%2Fcallback\ncookie: {cookie}\n%%\n\
     POST /idp/{slug}/login\norigin: https://other.test\n\nrid={rid}&deny=1\n%%\n\
     POST /idp/{slug}/end_session\ncookie: {cookie}\n\nconfirmed=1\n",
    "team\ncontent-type: application/x-www-form-urlencoded\n%%\n\
     GET /idp/{slug}/authorize?client_id={client}&response_type=code&scope=openid&redirect_uri=https%3A%2F%2Fapp.test%2Fcallback&\
     code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&prompt=none\n%%\n\
     POST /idp/{slug}/token\n\ngrant_type=authorization_code&client_id={client}&code=x&redirect_uri=https%3A%2F%2Fapp.test%2Fcallback\n",
    "auto\n%%\nGET /idp/{slug}/.well-known/openid-configuration\n%%\nGET /.well-known/oauth-authorization-server/idp/{slug}\n%%\n\
     GET /idp/{slug}/jwks\n%%\nGET /idp/{slug}\n%%\nGET /idp/{slug}/saml/metadata\n%%\nGET /idp/{slug}/saml/certificate\n%%\n\
     GET /idp/{slug}/saml/sso?RelayState=%3Cb%3E\n%%\nGET /idp/{slug}/saml/slo\ncookie: {cookie}\n",
    "auto\n%%\nSAML-REDIRECT /idp/{slug}/saml/sso?RelayState=r\n\n\
     <samlp:AuthnRequest xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" ID=\"_a1\" Version=\"2.0\" \
     IssueInstant=\"2026-11-30T08:00:00Z\" Destination=\"http://trapline.test/idp/{slug}/saml/sso\" ForceAuthn=\"false\" \
     IsPassive=\"false\" ProtocolBinding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST\" \
     AssertionConsumerServiceURL=\"{acs}\">\
     <saml:Issuer xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\">https://sp.test</saml:Issuer>\
     <samlp:NameIDPolicy Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:persistent\" AllowCreate=\"true\"/>\
     <samlp:RequestedAuthnContext><saml:AuthnContextClassRef xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\">\
     urn:oasis:names:tc:SAML:2.0:ac:classes:X509</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>\
     </samlp:AuthnRequest>\n%%\n\
     SAML-REDIRECT /idp/{slug}/saml/slo?RelayState=r\ncookie: {cookie}\n\n\
     <samlp:LogoutRequest xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" \
     xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\" ID=\"_a2\" Version=\"2.0\" IssueInstant=\"2026-11-30T08:00:00Z\">\
     <saml:Issuer>https://sp.test</saml:Issuer><saml:NameID>ada@app.test</saml:NameID>\
     <samlp:SessionIndex>x</samlp:SessionIndex></samlp:LogoutRequest>\n",
    "asked\ncontent-type: application/x-www-form-urlencoded\n%%\nSAML-POST /idp/{slug}/saml/sso?login_hint=ada@app.test\n\n\
     <samlp:AuthnRequest xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" \
     xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\" ID=\"_a3\" Version=\"2.0\" AssertionConsumerServiceURL=\"{acs}\">\n\
     <saml:Issuer>https://sp.test</saml:Issuer>\n<saml:Subject><saml:NameID>ada@app.test</saml:NameID></saml:Subject>\n\
     </samlp:AuthnRequest>\n%%\nGET /idp/{slug}/login?rid={rid}\n%%\nPOST /idp/{slug}/login\n\nrid={rid}&user={user}\n%%\n\
     SAML-POST /idp/{slug}/saml/slo\n\n<samlp:LogoutResponse xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" ID=\"_a4\" \
     Version=\"2.0\"><samlp:Status><samlp:StatusCode Value=\"urn:oasis:names:tc:SAML:2.0:status:Success\"/></samlp:Status>\
     </samlp:LogoutResponse>\n",
    "auto\ncontent-type: application/x-www-form-urlencoded\n%%\nGET /idp/{slug}/saml/sso?SAMLRequest=fZA7&RelayState=r&SAMLEncoding=x\n%%\n\
     POST /idp/{slug}/saml/sso\n\nSAMLRequest=PHNhbWxwOkF1dGhuUmVxdWVzdC8%2B&RelayState=%22%3E\n%%\n\
     POST /idp/{slug}/saml/slo\n\nSAMLResponse=PGEvPg%3D%3D\n",
];

/// Parts of requests, and what their readers look for.
#[rustfmt::skip]
pub(crate) const TOKENS: &[&[u8]] = &[
    b"\n%%\n", b"\n\n", b"&", b"=", b"%", b"%00", b"%0D%0A", b"%FF", b"%C3", b"%22%3E%3Csvg+onload%3Dx%3E", b"%3Cscript%3E", b"+",
    b"\0", b"\xFF", b"\xEF\xBB\xBF", b"client_id={client}", b"client_secret={secret}", b"redirect_uri=", b"{back}", b"{code}", b"{rid}",
    b"https%3A%2F%2Fapp.test%2Fcallback%2F", b"https%3A%2F%2Fapp.test%5Ccallback", b"//evil.test", b"javascript:", b"%40evil.test",
    b"http%3A%2F%2F127.0.0.1%3A99999%2Fcb", b"http%3A%2F%2F127.0.0.1%3A1%40evil.test%2Fcb", b"http%3A%2F%2Flocalhost%2Fcb", b"#", b"?",
    b"response_type=token", b"response_mode=form_post", b"response_mode=fragment", b"prompt=none", b"prompt=login", b"max_age=-1",
    b"max_age=4294967296", b"scope=openid", b"request=x", b"request_uri=x", b"resource=a%3A", b"claims=%7B", b"claims=[[[[[[[[[[",
    b"login_hint=fault:expired", b"mock_fault=signature_wrapping=3", b"mock_fault=replay", b"mock_fault=comment_in_nameid", b"mock_fault=sha1",
    b"mock_fault=alg_none", b"mock_fault=state_mismatch", b"mock_fault=clock_skew=-86401", b"mock_fault=clock_skew=86400", b"fault:", b";",
    b"grant_type=password", b"grant_type=refresh_token", b"{refresh_token}", b"{access_token}", b"{id_token}", b"code_verifier=x",
    b"authorization: Bearer \n", b"authorization: Basic :\n", b"authorization: Basic %\n", b"cookie: idp=x\n", b"cookie: {cookie}\n",
    b"content-type: application/json\n", b"content-type: text/plain\n", b"sec-fetch-site: cross-site\n", b"origin: null\n",
    b"<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>", b"<!ENTITY a \"&b;&b;\">", b"&x;", b"&#0;", b"&#xD800;", b"&amp;", b"<!--", b"-->",
    b"<![CDATA[", b"]]>", b"<?xml version=\"1.0\"?>", b"<?a b?>", b"xmlns=\"\"", b"xmlns:a=\"b\"", b"xml:lang=\"\"", b"<a>", b"</a>", b"<a/>",
    b" Version=\"1.1\"", b" ID=\"1\"", b" IssueInstant=\"9999-99-99\"", b" Destination=\"http://evil.test/\"", b" IsPassive=\"true\"",
    b" ForceAuthn=\"1\"", b" ProtocolBinding=\"x\"", b" AssertionConsumerServiceURL=\"https://evil.test/acs\"", b"'", b"\"", b"<", b">",
];

/// The sessions, and requests that are long.
pub(crate) fn all() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = SESSIONS.iter().map(|session| session.as_bytes().to_vec()).collect();
    let form = "auto\ncontent-type: application/x-www-form-urlencoded\n%%\nPOST /idp/{slug}/";
    for unit in ["a=1&", "scope=a+&", "resource=a%3Ab&", "state=%41", "%", "&"] {
        for place in ["token", "authorize", "saml/sso", "end_session", "userinfo"] {
            let request = format!("{form}{place}\n\nclient_id={{client}}&{}", unit.repeat(8_000));
            all.push(request.into_bytes());
        }
    }
    all
}
