// Signs and checks mail by mailauth: reads one request a line from standard input and answers each with a line of JSON.
//
// { "sign": message, "keys": [{ selector, domain, pem }], "canonicalization", "length" } gives { "message" };
// { "check": message, "records": { name: text } } gives { "results": { selector: word } }.

import { createInterface } from "node:readline";
import { dkimSign } from "mailauth/lib/dkim/sign.js";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";

async function sign({ sign: message, keys, canonicalization, length }) {
  const signatureData = keys.map(({ selector, domain, pem }) => ({
    selector,
    signingDomain: domain,
    privateKey: pem,
    ...(length === null ? {} : { maxBodyLength: length }),
  }));
  const made = await dkimSign(Buffer.from(message), { canonicalization, signatureData });
  if (made.errors.length) throw new Error(JSON.stringify(made.errors));
  return { message: made.signatures + message };
}

async function check({ check: message, records }) {
  const resolver = async (name) => {
    if (name in records) return [[records[name]]];
    throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  };
  const { results } = await dkimVerify(Buffer.from(message), { resolver });
  return { results: Object.fromEntries(results.map(({ selector, status }) => [selector, status.result])) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify(await ("sign" in request ? sign(request) : check(request))));
}
