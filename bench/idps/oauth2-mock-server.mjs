// oauth2-mock-server with one RSA key. Usage: node oauth2-mock-server.mjs PORT
import { OAuth2Server } from "oauth2-mock-server";

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
await server.start(Number(process.argv[2]), "127.0.0.1");
