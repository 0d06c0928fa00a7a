// Measures the web console of a server, and prints the values as one line of JSON.
// Usage: node measure.cjs SETTINGS, which are JSON: home, cookie, inbox (of 10,000 messages), other (an empty one),
// smtp (of the other one), smtpblast (the executable).
"use strict";

const { arriving } = require("./arriving.cjs");
const { list } = require("./list.cjs");
const { reading } = require("./reading.cjs");
const { sizes } = require("./sizes.cjs");

async function main(settings) {
  const values = {};
  for (const part of [sizes, list, reading, arriving]) Object.assign(values, await part(settings));
  console.log(JSON.stringify(values));
}

main(JSON.parse(process.argv[2])).catch((error) => {
  console.error(error);
  process.exit(1);
});
