// nodemailer: every mechanism, both kinds of TLS, a pool, attachments and an inline image.
"use strict";

const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { createTransport } = require("nodemailer");

const env = process.env;
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const tls = { ca: readFileSync(env.SMTP_CA) };
const clear = { host: env.SMTP_HOST, port: Number(env.SMTP_PORT), ignoreTLS: true };

function transport(options) {
  return createTransport({ auth: { user: env.SMTP_USER, pass: env.SMTP_PASSWORD }, ...options });
}

const simple = (subject) => ({
  from: "Sender <sender@app.test>",
  to: "receiver@app.test",
  subject,
  text: "Grüße\n.\n..\n",
});

function report(mail, extra = {}) {
  const { subject, text, html } = mail;
  const sent = { subject, from: "sender@app.test", to: ["receiver@app.test"], text, html, ...extra };
  console.log(JSON.stringify(sent));
}

async function send(options, mail, extra) {
  const sender = transport(options);
  await sender.sendMail(mail);
  sender.close();
  report(mail, extra);
}

async function mechanisms() {
  for (const authMethod of ["PLAIN", "LOGIN", "CRAM-MD5"]) {
    await send({ ...clear, authMethod }, simple(`nodemailer ${authMethod}`));
  }
}

async function encrypted() {
  const { host, port } = clear;
  await send({ host, port, requireTLS: true, tls }, simple("nodemailer STARTTLS"));
  const implicit = { host, port: Number(env.SMTPS_PORT), secure: true, tls };
  await send(implicit, simple("nodemailer implicit TLS"));
}

async function structured() {
  const content = Buffer.from([...Array(256).keys()]);
  const mail = {
    ...simple("nodemailer attachments"),
    html: '<p>Logo: <img src="cid:logo@app.test"></p>',
    attachments: [
      { filename: "Büro.pdf", content, contentType: "application/pdf" },
      { filename: "logo.png", content: pixel, cid: "logo@app.test" },
    ],
  };
  // The image comes first, because it goes with the HTML.
  const attachments = [
    { filename: "logo.png", contentType: "image/png", sha256: sha256(pixel), contentId: "logo@app.test" },
    { filename: "Büro.pdf", contentType: "application/pdf", sha256: sha256(content) },
  ];
  await send(clear, mail, { attachments });
}

async function asGiven() {
  const subject = "nodemailer raw";
  const raw = `From: sender@app.test\r\nTo: receiver@app.test\r\nSubject: ${subject}\r\n\r\nAs it is.\r\n`;
  const envelope = { from: "sender@app.test", to: ["receiver@app.test"] };
  const sender = transport(clear);
  await sender.sendMail({ envelope, raw });
  report({ subject, text: "As it is." }, { raw: sha256(raw) });
}

async function pooled() {
  const pool = transport({ ...clear, pool: true, maxConnections: 4, maxMessages: 10 });
  const mails = Array.from({ length: 60 }, (_, number) => simple(`nodemailer pooled ${number}`));
  await Promise.all(mails.map((mail) => pool.sendMail(mail)));
  pool.close();
  mails.forEach((mail) => report(mail));
}

async function wrongPassword() {
  const auth = { user: env.SMTP_USER, pass: "wrong" };
  const refused = await createTransport({ ...clear, auth }).verify().then(() => null, (error) => error);
  if (refused?.responseCode !== 535) throw new Error(`a wrong password was answered: ${refused}`);
}

async function main() {
  for (const part of [mechanisms, encrypted, structured, asGiven, pooled, wrongPassword]) await part();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
