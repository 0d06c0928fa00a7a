// What the programs of all providers share: the mock over this server's API, and a receiver of its webhooks.

const assert = require("node:assert");
const http = require("node:http");

const PATIENCE = 60_000;

/** The error of a call that has to fail. */
async function raises(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return assert.fail("no error");
}

/** The mock that the environment names. */
class Mock {
  #arrived = [];
  #waiting = [];

  async api(method, path = "", body = undefined) {
    const answer = await fetch(process.env.MOCK + path, {
      method,
      headers: { Authorization: `Bearer ${process.env.API_KEY}`, "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const text = await answer.text();
    assert(answer.ok, `${method} ${path}: ${text}`);
    return text && JSON.parse(text);
  }

  settings(changed) {
    return this.api("PATCH", "", { settings: changed });
  }

  /**
   * An address whose requests `received` gives, one after the other. What `verify` throws at is answered with 401, and
   * all else with 200.
   */
  async receive(verify = () => {}) {
    const server = http.createServer(async (request, answer) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      const arrived = { headers: request.headers, body: Buffer.concat(parts).toString() };
      const waiting = this.#waiting.shift();
      try {
        verify(arrived.headers, arrived.body, "");
        answer.writeHead(200).end();
      } catch {
        answer.writeHead(401).end();
      }
      waiting ? waiting(arrived) : this.#arrived.push(arrived);
    });
    await new Promise((done) => server.listen(0, process.env.RECEIVER, done));
    server.unref();
    return `http://${process.env.RECEIVER}:${server.address().port}/hooks?a=1`;
  }

  received() {
    const arrived = this.#arrived.shift();
    if (arrived) return Promise.resolve(arrived);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("nothing was received")), PATIENCE);
      this.#waiting.push((request) => {
        clearTimeout(late);
        resolve(request);
      });
    });
  }
}

/** Runs the program, and says how it ended. */
function accept(program) {
  program(new Mock()).then(
    () => {
      console.log("ok");
      process.exit(0);
    },
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

module.exports = { Mock, accept, raises };
