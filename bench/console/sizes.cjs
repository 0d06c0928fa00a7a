// Bytes of what is built, as a browser gets it by gzip, and of what the executable has of it.
"use strict";

const NAMES = /[\w-]+-[\w-]{8}\.(?:js|css)/g;

// The page names the first files, and scripts name those that come later.
async function sizes({ home }) {
  const page = await text(`${home}/`, { accept: "text/html" });
  const first = new Set(page.match(NAMES));
  const all = new Map();
  for (let left = [...first]; left.length > 0; ) {
    const name = left.pop();
    if (all.has(name)) continue;
    const answer = await bytes(`${home}/assets/${name}`, "gzip");
    // What only looks like a name is not there.
    if (answer === null) continue;
    all.set(name, answer);
    if (name.endsWith(".js")) left.push(...(await text(`${home}/assets/${name}`)).match(NAMES) ?? []);
  }
  const sum = (test) => [...all].filter(([name]) => test(name)).reduce((total, [, size]) => total + size, 0);
  let kept = 0;
  for (const name of all.keys()) {
    for (const form of ["identity", "gzip", "br"]) kept += await bytes(`${home}/assets/${name}`, form);
  }
  return {
    firstScripts: sum((name) => first.has(name) && name.endsWith(".js")) / 1e3,
    firstStyles: sum((name) => first.has(name) && name.endsWith(".css")) / 1e3,
    allScripts: sum((name) => name.endsWith(".js")) / 1e3,
    kept: kept / 1e6,
  };
}

async function text(url, headers = {}) {
  return (await fetch(url, { headers })).text();
}

// The length of a file in this form, which `fetch` would not leave as it is.
function bytes(url, form) {
  return new Promise((resolve, reject) => {
    const headers = { "accept-encoding": form };
    require("node:http")
      .get(url, { headers }, (answer) => {
        let length = 0;
        answer.on("data", (piece) => (length += piece.length));
        answer.on("end", () => resolve(answer.statusCode === 200 ? length : null));
      })
      .on("error", reject);
  });
}

module.exports = { sizes };
