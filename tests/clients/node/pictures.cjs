// Takes the pictures of the documentation: each screen of the web console, light and dark, and one on a phone.
// Usage: node pictures.cjs FOLDER LINK, with the first-run link of a server that is new; or without arguments, to
// print the names of all as JSON.
"use strict";

const path = require("node:path");

const { ask, fill } = require("./fill.cjs");
const { names, outside, screens, show } = require("./screens.cjs");
const { open, signIn, walk } = require("./walk.cjs");

const SIZE = { width: 1120, height: 580 };
const PHONE = { width: 390, height: 700 };
const THEMES = ["light", "dark"];

if (process.argv.length < 4) {
  const all = names().flatMap((name) => THEMES.map((theme) => `${name}-${theme}`));
  console.log(JSON.stringify([...all, "phone-light", "phone-dark"]));
} else walk(take);

async function take(folder, link) {
  const { page, end } = await open({ viewport: SIZE });
  await page.emulateMedia({ reducedMotion: "reduce" });
  const shoot = async (name) => {
    // What was copied or sent a moment ago is not told of in a picture.
    await page.locator(".toast").first().waitFor({ state: "detached" });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) });
    }
  };
  await signIn(page, link);
  const there = await fill(page);
  for (const screen of screens(there)) {
    await show(page, link, screen);
    if (screen.name === "message-html") await page.frameLocator("iframe").locator("h1").waitFor();
    await shoot(screen.name);
  }
  await page.setViewportSize(PHONE);
  const [, list] = screens(there);
  await show(page, link, list);
  await shoot("phone");
  await page.setViewportSize(SIZE);
  await ask(page, "POST", "/api/auth/sign-out");
  for (const screen of outside) {
    await show(page, link, screen);
    await shoot(screen.name);
  }
  await end();
}
