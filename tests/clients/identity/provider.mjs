// An OpenID Connect provider on a free port of this machine, with the client `trapline`. Its arguments are the
// addresses that it may send people back to. Whoever says an address is taken at their word, whatever
// their password; addresses that begin with `unverified` are not verified. The first line that it prints
// is its issuer.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// Modules are not looked for in NODE_PATH, but required ones are.
const found = createRequire(import.meta.url).resolve('oidc-provider');
const { Provider } = await import(pathToFileURL(found));

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'trapline',
      client_secret: 'a secret of the client',
      redirect_uris: process.argv.slice(2),
    }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key of cookies'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id, email: id, email_verified: !id.startsWith('unverified'), name: 'Of the provider',
      }),
    }),
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
