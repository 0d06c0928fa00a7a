// @node-saml/node-saml as a service provider.
const { ValidateInResponseTo } = require('@node-saml/node-saml');
const { client } = require('./node_saml_setup.cjs');
const { APP, outcomes, set, shown, signIn, tell } = require('./provider.cjs');

function wants(saml, { sign = 'both', fault = '', isBegunThere, form }) {
  let wanted = sign;
  if (fault.startsWith('signature_wrapping')) wanted = /=[12]$/.test(fault) ? 'response' : 'assertion';
  saml.options.wantAssertionsSigned = wanted !== 'response';
  saml.options.wantAuthnResponseSigned = wanted !== 'assertion';
  if (isBegunThere) saml.options.validateInResponseTo = ValidateInResponseTo.never;
  const version = ['persistent', 'transient'].includes(form) ? '2.0' : '1.1';
  saml.options.identifierFormat = `urn:oasis:names:tc:SAML:${version}:nameid-format:${form ?? 'emailAddress'}`;
}

async function accept(how) {
  const provider = await shown();
  const saml = client(provider, APP);
  wants(saml, how);
  const url = how.isBegunThere
    ? provider.endpoints.samlSso
    : await saml.getAuthorizeUrlAsync('a state', undefined, {});
  const { fields } = await signIn(url, how.fault);
  const { profile } = await saml.validatePostResponseAsync(fields);
  if (!profile) throw new Error('an empty profile');
  return { name: profile.nameID, odd: profile.odd };
}

/** Where a request is sent on to. */
async function location(url, cookie) {
  const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' });
  return new URL(answer.headers.get('location'));
}

/** Begun at the application, and then at the provider. */
async function signOut() {
  const provider = await set({ samlSloUrl: `${APP}/slo` });
  const saml = client(provider, APP);
  const { fields, cookie } = await signIn(await saml.getAuthorizeUrlAsync('', undefined, {}));
  const { profile } = await saml.validatePostResponseAsync(fields);
  const validated = (url) =>
    saml.validateRedirectAsync(Object.fromEntries(url.searchParams), url.search.slice(1));

  const left = await location(await saml.getLogoutUrlAsync(profile, 'a state', {}), cookie);
  const { loggedOut } = await validated(left);
  tell('logout begun there', loggedOut && left.searchParams.get('RelayState') === 'a state' ? 'accepted' : 'refused');

  const asked = await validated(await location(provider.endpoints.samlSlo, cookie));
  const back = await saml.getLogoutResponseUrlAsync(asked.profile, '', {}, true);
  const page = await (await fetch(back)).text();
  const isEnded = asked.profile.nameID === profile.nameID && page.includes('has ended its session too');
  tell('logout begun here', isEnded ? 'accepted' : `refused: ${page}`);
}

outcomes(accept).then(signOut);
