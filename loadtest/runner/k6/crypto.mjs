// The module `k6/crypto`.

import { createHash, createHmac } from "node:crypto";

const ENCODINGS = { hex: "hex", base64: "base64", base64url: "base64url" };

function digest(hash, encoding) {
  if (encoding === "binary") return new Uint8Array(hash.digest()).buffer;
  if (!ENCODINGS[encoding]) throw new Error(`the runner has no encoding ${encoding}`);
  return hash.digest(ENCODINGS[encoding]);
}

const bytes = (input) => (typeof input === "string" ? input : new Uint8Array(input));

export function sha256(input, encoding) {
  return digest(createHash("sha256").update(bytes(input)), encoding);
}

export function hmac(algorithm, secret, input, encoding) {
  return digest(createHmac(algorithm, bytes(secret)).update(bytes(input)), encoding);
}

export default { sha256, hmac };
