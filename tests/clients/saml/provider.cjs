// The provider under test, as a browser and its owner see it, and the sign-ins that each library is led through.
const APP = 'https://sp.example';
const FIELD = /<input type="hidden" name="([^"]*)" value="([^"]*)">/g;
const SIGNING = ['both', 'assertion', 'response'];
const FORMATS = ['emailAddress', 'persistent', 'transient', 'unspecified'];
const FAULTS = [
  'expired', 'not_yet_valid', 'clock_skew=86400', 'clock_skew=-86400', 'wrong_issuer', 'wrong_audience',
  'bad_signature', 'wrong_key', 'status_responder', 'status_authn_failed', 'no_passive', 'wrong_recipient',
  'wrong_destination', 'wrong_in_response_to', 'tampered', 'unsigned', 'comment_in_nameid', 'replay',
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => `signature_wrapping=${number}`),
];
const NAMES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

async function ask(method, body, path = '') {
  const headers = { authorization: `Bearer ${process.env.API_KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(process.env.IDP + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const shown = () => ask('GET');
const set = (changes) => ask('PATCH', changes);

/** Follows a sign-in to the form that is posted to the service provider, and the cookie of the session. */
async function signIn(url, fault) {
  const to = new URL(url);
  if (fault) to.searchParams.set('mock_fault', fault);
  const answer = await fetch(to);
  const page = await answer.text();
  const fields = Object.fromEntries(
    [...page.matchAll(FIELD)].map(([, name, value]) => [name, value.replace(/&[#a-z0-9]+;/g, (it) => NAMES[it] ?? it)]),
  );
  if (!fields.SAMLResponse) throw new Error(`no response: ${page}`);
  return { fields, cookie: answer.headers.get('set-cookie')?.split(';')[0] };
}

function tell(case_, outcome, detail = '') {
  console.log(JSON.stringify({ case: case_, outcome, detail: String(detail).slice(0, 300) }));
}

/** Signs in by each variant. `accept(how)` gives a name and the value of the attribute `odd`, or fails. */
async function outcomes(accept) {
  const attempt = async (case_, how = {}) => {
    try {
      const { name, odd } = await accept(how);
      if (!how.fault && odd !== process.env.ODD) tell(case_, 'misread', JSON.stringify(odd));
      else tell(case_, `accepted ${name}`);
    } catch (error) {
      tell(case_, 'refused', error?.message ?? error);
    }
  };
  for (const sign of SIGNING) {
    await set({ samlSign: sign });
    await attempt(`sign ${sign}`, { sign });
  }
  await set({ samlSign: 'both' });
  await attempt('begun at the provider', { isBegunThere: true });
  for (const form of FORMATS) {
    await set({ samlNameIdFormat: form });
    await attempt(`name ${form}`, { form });
  }
  await set({ samlNameIdFormat: 'emailAddress' });
  for (const fault of FAULTS) await attempt(fault, { fault });
  await attempt('signature_only_on_response', { fault: 'signature_only_on_response' });
  await ask('POST', { what: 'keys' }, '/rotate');
  await attempt('two certificates');
}

module.exports = { APP, outcomes, set, shown, signIn, tell };
