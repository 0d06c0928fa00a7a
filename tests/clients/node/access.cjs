// Holds every screen and dialog of the web console against what axe-core knows of accessibility, in both
// themes and layouts, and looks whether they fit a window of 320 px; prints what is wrong as one line of JSON.
// Usage: node access.cjs FORM LINK, where FORM is `short` or `full` (each layout in each theme), and LINK the
// first-run link of a server.
"use strict";

const fs = require("node:fs");

const { ask, fill } = require("./fill.cjs");
const { closeDialog, dialogs, openDialog, outside, screens, show } = require("./screens.cjs");
const { open, report, signIn, walk } = require("./walk.cjs");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const SMALL = { width: 320, height: 640 };
// Each layout and each theme once; a rule that depends on both is looked at in the full form.
const SHORT = [
  { size: DESKTOP, colorScheme: "light" },
  { size: PHONE, colorScheme: "dark" },
];
const FULL = [
  ...SHORT,
  { size: PHONE, colorScheme: "light" },
  { size: DESKTOP, colorScheme: "dark" },
  { size: DESKTOP, colorScheme: "dark", forcedColors: "active" },
];

walk(async (form, link) => {
  const { page, end } = await open();
  const looks = form === "full" ? FULL : SHORT;
  const look = (name) => inspect(page, name, looks);
  report.wrong = [];
  // A colour on its way to another is neither.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signIn(page, link);
  const there = await fill(page);
  for (const screen of screens(there)) {
    await show(page, link, screen);
    await look(screen.name);
    await narrow(page, screen.name);
    for (const dialog of dialogs.filter(({ on }) => on === screen.name)) {
      await page.setViewportSize(DESKTOP);
      await openDialog(page, dialog);
      await look(dialog.name);
      await narrow(page, dialog.name);
      await closeDialog(page);
    }
  }
  await motion(page);
  await ask(page, "POST", "/api/auth/sign-out");
  for (const screen of outside) {
    await page.setViewportSize(DESKTOP);
    await show(page, link, screen);
    await look(screen.name);
    await narrow(page, screen.name);
  }
  await end();
});

async function inspect(page, name, looks) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  for (const { size, colorScheme, forcedColors = "none" } of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, forcedColors });
    for (const wrong of await page.evaluate(violations)) {
      report.wrong.push(`${name}, ${size.width} px, ${colorScheme}: ${wrong}`);
    }
  }
  await page.emulateMedia({ forcedColors: "none" });
}

// The mail in the frame is not the console's.
async function violations() {
  const options = {
    iframes: false,
    resultTypes: ["violations"],
    rules: { "target-size": { enabled: true } },
  };
  const { violations } = await window.axe.run(document, options);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

// Nothing but what has a box of its own is wider than the window.
async function narrow(page, name) {
  await page.setViewportSize(SMALL);
  const over = await page.evaluate(() => {
    const places = [document.scrollingElement, document.querySelector("main")];
    const wide = (place) => place && place.scrollWidth > place.clientWidth;
    return places.filter(wide).map((place) => `${place.tagName} ${place.scrollWidth}`);
  });
  if (over.length > 0) report.wrong.push(`${name} scrolls sideways at 320 px: ${over}`);
}

// With reduced motion nothing moves or fades.
async function motion(page) {
  report.moving = await page.evaluate(() => {
    const durations = ({ transitionDuration, animationName }) =>
      transitionDuration !== "0s" || animationName !== "none";
    return [...document.querySelectorAll("*")].map((it) => getComputedStyle(it)).filter(durations).length;
  });
}
