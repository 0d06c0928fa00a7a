// A service that answers as Trapline does, or wrongly, slowly or not at all.

import { createServer } from "node:http";

/** Starts it; `ways` are `slow`, `wrong`, `withheld`, `repeated` and `lax`. */
export async function fake(...ways) {
  const inboxes = new Map();
  let ids = 0;
  const does = (way) => ways.includes(way);
  const answer = (response, status, body) => {
    if (response.headersSent) return;
    response.writeHead(status, {
      "Content-Type": "application/json",
      ...(status === 429 ? { "Retry-After": "1" } : {}),
    });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };

  function list(url, messages) {
    const limit = Number(url.searchParams.get("limit") ?? 50);
    const page = Number(url.searchParams.get("page") ?? 1);
    if (!does("lax") && (limit < 1 || limit > 200 || page < 1)) return [400, {}];
    const q = url.searchParams.get("q") ?? "";
    const found = q && !"your inbox works".includes(q.toLowerCase()) ? [] : [...messages].reverse();
    return [200, { total: found.length, messages: found.slice((page - 1) * limit, page * limit) }];
  }

  function wait(url, response, inbox) {
    const seconds = Number(url.searchParams.get("timeout"));
    if (!does("lax") && (seconds < 1 || seconds > 120)) return answer(response, 400, {});
    const since = Date.parse(url.searchParams.get("since") ?? 0);
    const message = inbox.messages.find((it) => it.at >= since);
    if (message && !does("withheld")) return answer(response, 200, { message });
    inbox.waiting.push((it) => answer(response, 200, { message: it }));
    setTimeout(
      () => answer(response, 200, { message: null }),
      does("withheld") ? 50 : seconds * 1000,
    ).unref();
  }

  function store(response, inbox, id) {
    if (inbox.sent >= 10 && !does("lax")) return answer(response, 429, {});
    const message = { id: `m${++ids}`, inboxId: does("wrong") ? "another" : id, at: Date.now() };
    inbox.sent += 1;
    inbox.messages.push(message);
    if (does("repeated")) inbox.messages.push(message);
    if (!does("withheld")) for (const tell of inbox.waiting.splice(0)) tell(message);
    answer(response, 201, message);
  }

  function change(response, body) {
    const bounds = { expiresInMinutes: 10080, maxMessages: 10000 };
    const isIn = ([name, value]) => value >= 1 && value <= bounds[name];
    answer(response, does("lax") || Object.entries(body).every(isIn) ? 200 : 400, {});
  }

  function route(request, response, body) {
    const url = new URL(request.url, "http://x");
    const [, , kind, id, what, more] = url.pathname.split("/");
    if (kind === "metrics")
      return response.end(
        `process_resident_memory_bytes ${does("lax") ? 1e6 * (++ids) ** 4 : 1e6}\n`,
      );
    if (kind === "messages") return answer(response, 200, { id });
    if (!id) {
      inboxes.set(`i${++ids}`, { messages: [], waiting: [], sent: 0 });
      return answer(response, 201, { id: `i${ids}` });
    }
    const inbox = inboxes.get(id);
    if (request.method === "DELETE") return answer(response, 204);
    if (request.method === "PATCH") return change(response, JSON.parse(body));
    if (what === "test-message") return store(response, inbox, id);
    if (more === "wait") return wait(url, response, inbox);
    answer(response, ...list(url, inbox.messages));
  }

  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () =>
      setTimeout(() => route(request, response, body), does("slow") ? 700 : 0),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => server.closeAllConnections() ?? server.close(),
  };
}
