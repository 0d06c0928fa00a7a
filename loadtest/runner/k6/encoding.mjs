// The module `k6/encoding`.

const NODE = { std: "base64", rawstd: "base64", url: "base64url", rawurl: "base64url" };

function known(encoding) {
  if (!NODE[encoding]) throw new Error(`the runner has no encoding ${encoding}`);
  return NODE[encoding];
}

export function b64encode(input, encoding = "std") {
  const bytes = Buffer.from(typeof input === "string" ? input : new Uint8Array(input));
  const text = bytes.toString(known(encoding));
  if (encoding === "rawstd") return text.replace(/=+$/, "");
  return encoding === "url" ? text.padEnd(Math.ceil(text.length / 4) * 4, "=") : text;
}

export function b64decode(input, encoding = "std", format = "") {
  const bytes = Buffer.from(input, known(encoding));
  return format === "s" ? bytes.toString("utf8") : new Uint8Array(bytes).buffer;
}

export default { b64encode, b64decode };
