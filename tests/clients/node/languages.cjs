// Shows every screen of the web console in the pseudo-language, wide and at 400 % zoom, and prints which of them do
// not fit, and which labels are in no table of texts.
// Usage: node languages.cjs LINK, with the first-run link of a server.
"use strict";

const { fill } = require("./fill.cjs");
const { screens, show } = require("./screens.cjs");
const { open, report, signIn, walk } = require("./walk.cjs");

const DESKTOP = { width: 1280, height: 1024 };
// What is left of that window at 400 %.
const ZOOMED = { width: 320, height: 256 };

walk(async (link) => {
  const { page, end } = await open({ viewport: DESKTOP });
  report.wrong = [];
  report.seen = 0;
  await signIn(page, link);
  const there = await fill(page);
  await page.evaluate(() => localStorage.setItem("trapline.language", "pseudo"));
  for (const screen of screens(there)) {
    for (const size of [DESKTOP, ZOOMED]) {
      await page.setViewportSize(size);
      await show(page, link, screen);
      const { wide, plain, labels } = await page.evaluate(look);
      report.seen += labels;
      for (const what of [...wide, ...plain]) report.wrong.push(`${screen.name}, ${size.width} px: ${what}`);
    }
  }
  await end();
});

// What is wider than the window, and labels that are plain English.
function look() {
  const places = [document.scrollingElement, document.querySelector("main")];
  const wide = places.filter((place) => place && place.scrollWidth > place.clientWidth);
  const labels = [...document.querySelectorAll("main :is(.field > label, th[scope=col], [role=tab], nav a)")];
  const plain = labels.map((label) => label.textContent.trim()).filter((text) => /^[ -}]*[a-z][ -}]*$/i.test(text));
  return {
    wide: wide.map((place) => `${place.tagName} is ${place.scrollWidth} px wide`),
    plain: plain.map((text) => `“${text}” is in no table`),
    labels: labels.length,
  };
}
