// samlify as a service provider. It takes a validator of schemas from whoever uses it; this one takes all.
const samlify = require('samlify');
const { APP, outcomes, shown, signIn } = require('./provider.cjs');

samlify.setSchemaValidator({ validate: async () => 'ok' });

async function accept({ sign = 'both', fault = '', form = 'emailAddress', isBegunThere }) {
  const provider = await shown();
  const metadata = await (await fetch(provider.samlMetadataUrl)).text();
  let wanted = sign;
  if (fault.startsWith('signature_wrapping')) wanted = /=[12]$/.test(fault) ? 'response' : 'assertion';
  const idp = samlify.IdentityProvider({ metadata });
  const version = ['persistent', 'transient'].includes(form) ? '2.0' : '1.1';
  const sp = samlify.ServiceProvider({
    entityID: APP,
    nameIDFormat: [`urn:oasis:names:tc:SAML:${version}:nameid-format:${form}`],
    wantAssertionsSigned: wanted !== 'response',
    wantMessageSigned: wanted !== 'assertion',
    assertionConsumerService: [
      { Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST', Location: `${APP}/acs` },
    ],
  });
  const url = isBegunThere ? provider.endpoints.samlSso : sp.createLoginRequest(idp, 'redirect').context;
  const { fields } = await signIn(url, fault);
  const { extract } = await sp.parseLoginResponse(idp, 'post', { body: fields });
  return { name: extract.nameID, odd: extract.attributes.odd };
}

outcomes(accept);
