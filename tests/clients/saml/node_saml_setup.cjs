const { SAML, ValidateInResponseTo } = require('@node-saml/node-saml');

/** What node-saml is told; `provider` is the answer of GET /api/idps/:id, and `app` where the application is. */
function client(provider, app) {
  const keys = [provider.signingKey, ...provider.previousKeys];
  return new SAML({
    entryPoint: provider.endpoints.samlSso,
    logoutUrl: provider.endpoints.samlSlo,
    idpIssuer: provider.samlMetadataUrl,
    idpCert: keys.map((key) => key.certificate).filter(Boolean),
    issuer: app,
    audience: app,
    callbackUrl: `${app}/acs`,
    logoutCallbackUrl: `${app}/slo`,
    validateInResponseTo: ValidateInResponseTo.always,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: true,
  });
}

module.exports = { client };
