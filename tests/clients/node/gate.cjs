// A way to a server that a walk can close, cut and slow down, as a network does.
"use strict";

const net = require("node:net");
const readline = require("node:readline");

// A proxy of TCP before the server at this URL.
async function gate(target) {
  const upstream = new URL(target);
  let isOpen = true;
  let delay = 0;
  const clients = new Set();
  const server = net.createServer((client) => {
    if (!isOpen) return client.destroy();
    const to = net.connect(Number(upstream.port), upstream.hostname);
    const end = () => {
      clients.delete(client);
      client.destroy();
      to.destroy();
    };
    for (const socket of [client, to]) socket.on("error", end).on("close", end);
    clients.add(client);
    client.on("data", (data) => (client.asked = String(data).split("\r\n", 1)[0]));
    client.pipe(to);
    to.on("data", (data) => setTimeout(() => !client.frozen && client.write(data), delay));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const cut = () => clients.forEach((client) => client.destroy());
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut,
    shut: () => ((isOpen = false), cut()),
    open: () => (isOpen = true),
    // The server is gone for those who are connected, and they do not hear of it.
    freeze: () => clients.forEach((client) => (client.frozen = true)),
    // Milliseconds that each answer takes longer.
    slow: (time) => (delay = time),
    // How many of the connections are streams of events.
    streams: () => [...clients].filter(({ asked }) => asked?.includes("/events")).length,
    // What is open would keep the walk from ending.
    end: () => (cut(), server.close(), process.stdin.destroy()),
  };
}

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Has something done to the server by whoever runs the walk, and returns what that says.
async function have(what) {
  console.log(`@${what}`);
  return (await answers.next()).value;
}

module.exports = { gate, have };
