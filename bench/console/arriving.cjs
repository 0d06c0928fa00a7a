// What comes while an inbox is open: one mail after another, what somebody else does, and a burst.
"use strict";

const { execFile } = require("node:child_process");
const { promisify } = require("node:util");
const nodemailer = require("nodemailer");

const { busy, heap, quantile, start } = require("./browser.cjs");

const MAILS = 100;
const CHANGES = 50;
const BURST = { rate: 1_000, seconds: 10 };

async function arriving(settings) {
  const browser = await start(settings);
  const url = `${settings.home}/inboxes/${settings.other}`;
  const [one, two] = [await browser.visitor(), await browser.visitor()];
  for (const page of [one, two]) await live(page, url);
  const rows = await arrivals(one, settings);
  const changes = await changed(one, two);
  await two.context().close();
  const values = {
    row: quantile(rows, 0.5),
    rowP99: quantile(rows, 0.99),
    change: quantile(changes, 0.5),
    changeP99: quantile(changes, 0.99),
    ...(await burst(one, settings)),
  };
  await browser.close();
  return values;
}

async function live(page, url) {
  await page.goto(url);
  await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
}

// From the answer to a mail to its row, by the clock of the machine.
async function arrivals(page, { smtp }) {
  const { host, port, username: user, password: pass } = smtp;
  const tls = { rejectUnauthorized: false };
  const transport = nodemailer.createTransport({ pool: true, maxConnections: 1, host, port, auth: { user, pass }, tls });
  const times = [];
  for (let number = 1; number <= MAILS; number++) {
    const subject = `Mail ${number} of many`;
    const row = page.evaluate(
      (subject) => window.when(() => document.querySelector("[data-message]")?.textContent.includes(subject)),
      subject,
    );
    await transport.sendMail({ from: "a@example.com", to: "b@example.com", subject, text: "Hello." });
    const taken = performance.timeOrigin + performance.now();
    times.push((await row) - taken);
  }
  transport.close();
  return times;
}

// From a key in one browser, which marks a message, to its mark in another.
async function changed(one, two) {
  const times = [];
  await one.locator("[data-message]").first().click();
  await one.locator('[aria-label="Message"] h1').waitFor();
  await two.evaluate(() => window.when(() => !document.querySelector("[data-message] .subject.unread")?.closest("li[aria-posinset='1']")));
  for (let number = 0; number < CHANGES; number++) {
    const isUnread = number % 2 === 0;
    const seen = two.evaluate(
      (isUnread) =>
        window.when(() => {
          const row = document.querySelector("li[aria-posinset='1']");
          return row && (row.querySelector(".subject.unread") !== null) === isUnread;
        }),
      isUnread,
    );
    await one.keyboard.press(isUnread ? "Shift+U" : "Shift+I");
    times.push((await seen) - (await one.evaluate(() => window.keyAt)));
  }
  return times;
}

// Many mails a second, of which the page shows the newest all the while.
async function burst(page, { home, cookie, other, smtp, smtpblast }) {
  await page.keyboard.press("Escape");
  const [heapBefore, busyBefore, began] = [await heap(page), await busy(page), Date.now()];
  const options = [`${smtp.host}:${smtp.port}`, "--rate", BURST.rate, "--duration", BURST.seconds, "--json"];
  const user = ["--user", smtp.username, "--password", smtp.password, "--settle", "0"];
  const { stdout } = await promisify(execFile)(smtpblast, [...options, ...user].map(String));
  const { accepted } = JSON.parse(stdout);
  const seconds = (Date.now() - began) / 1_000;
  const share = ((await busy(page)) - busyBefore) / seconds;
  await page.waitForTimeout(1_000);
  const shown = await page.locator("header .state").innerText();
  const { messageCount } = await (await fetch(`${home}/api/inboxes/${other}`, { headers: { cookie } })).json();
  return {
    burstRate: accepted / seconds,
    burstBusy: share * 100,
    burstHeap: (await heap(page)) - heapBefore,
    burstMissed: Math.abs(messageCount - Number(/[\d,]+/.exec(shown)[0].replaceAll(",", ""))),
  };
}

module.exports = { arriving };
