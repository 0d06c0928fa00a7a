// Takes Trapline's webhooks: node receiver.mjs, with WEBHOOK_SECRET and PORT set.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const SECRET = process.env.WEBHOOK_SECRET; // all of it, with whsec_
const TOLERANCE = 300; // seconds

/** Whether the body (a Buffer, as it came) was signed with the secret, and lately. */
function isGenuine(secret, timestamp, signature, body) {
  if (!/^\d+$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE) return false;
  const hmac = createHmac("sha256", secret).update(`${timestamp}.`).update(body);
  const wanted = Buffer.from(`sha256=${hmac.digest("hex")}`);
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const timestamp = request.headers["x-webhook-timestamp"] ?? "";
  const signature = request.headers["x-webhook-signature"] ?? "";
  if (!isGenuine(SECRET, timestamp, signature, body)) {
    response.writeHead(401).end();
    return;
  }
  const event = JSON.parse(body.toString("utf8"));
  // Deliveries may come twice: event.message.id tells whether this one did.
  console.log(event.event, event.message.id);
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.log("listening", server.address().port);
});
