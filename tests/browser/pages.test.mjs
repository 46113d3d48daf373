// The page of `mishap report` in a real Chromium: that it draws, filters, tells, and asks for nothing.
//
// Nothing is awaited but what the page does; it does all of it within the event that asks for it, or in the next frame.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { folder, founding, hostile, long, pageOf } from "./journals.mjs";

const XSS = `</script><script>hacked=1</script><img src=x onerror="hacked=1"><!--"'\`\${hacked=1}{{data}}&lt;`;
const MOST_ELEMENTS = 1500;
const pages = {};
let browser;
let shots = 0;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM });
  pages.founding = founding("founding", "get-opens-late", "get-late");
  pages.long = pageOf("long", long());
  pages.hostile = pageOf("hostile", hostile(XSS));
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** Opens a page and hands it over; fails on whatever the page logs, and on whatever it asks for beside itself. */
async function opened(file, scheme, look) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1400, height: 850 } });
  const page = await context.newPage();
  const [said, asked] = [[], []];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.stack));
  page.on("dialog", (dialog) => said.push(`dialog ${dialog.message()}`));
  page.on("request", (request) => asked.push(request.url()));
  const url = pathToFileURL(file).href;
  await page.goto(url);
  await look(page);
  if (process.env.SCREENSHOTS) {
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${file.split("/").at(-1)}-${scheme}-${shots++}.png` });
  }
  await context.close();
  assert.deepEqual(said, [], "the page is silent");
  assert.deepEqual(asked, [url], "the page asks for nothing");
}

const elements = (page) => page.evaluate(() => document.querySelectorAll("*").length);
const text = (page, what) => page.locator(what).innerText();

test("a founding bug is seen: the verdict, the lanes, and what the rule did", () =>
  opened(pages.founding, "light", async (page) => {
    assert.match(await text(page, "#verdict"), /^✗ exit 1: the command ended with status 1\b/);
    assert.match(await text(page, "#judged"), /get-opens-late\/hold-get/);
    assert.match(await text(page, ".row.fault"), /^! hold-get: held .* until end of POST tools\/call id 1$/);
    assert.equal(await page.locator(".row.held svg.lanes rect.held").count(), 2, "where it came and where it left");
    assert.ok((await page.locator(".row.passed svg.lanes path.tip").count()) > 20);
    await page.locator("#list").focus();
    await page.keyboard.press("n");
  }));

test("a click tells all that is known of an event", () =>
  opened(pages.founding, "dark", async (page) => {
    await page.locator(".row.held").last().click();
    const told = await text(page, "#details");
    for (const known of ["GET /mcp", "What rules did", "! hold-get: held", "s1/get:1/request#1", "Decisions", "Gates", "mcp-session-id"]) {
      assert.ok(told.includes(known), `${known} in ${told}`);
    }
    assert.ok(!told.includes("undefined") && !told.includes("[object"), told);
  }));

test("of 5,000 events only those in view have elements, at first and at the end", () =>
  opened(pages.long, "light", async (page) => {
    assert.equal(await text(page, "#count"), "5,000 events");
    assert.ok((await elements(page)) < MOST_ELEMENTS, `${await elements(page)} elements`);
    await page.locator("#list").focus();
    await page.keyboard.press("End");
    assert.match(await text(page, "[aria-selected=true]"), /POST ping id 1250[\s\S]*end: eof/);
    assert.match(await text(page, "#details"), /s3\/post:1250\/end#1/);
    assert.equal(await page.locator("#streams option").count(), 40, "streams that are offered by name");
    await page.locator("#list").evaluate((list) => list.scrollTo(0, 60_000));
    await page.locator("[aria-posinset='2310']").waitFor();
    assert.ok((await elements(page)) < MOST_ELEMENTS, `${await elements(page)} elements`);
  }));

test("events are filtered by text, session, stream, message and by what rules did", () =>
  opened(pages.long, "dark", async (page) => {
    const shown = () => text(page, "#count");
    await page.fill("#find", "ID 777");
    assert.equal(await shown(), "4 of 5,000 events");
    await page.fill("#find", "");
    await page.selectOption("#session", { label: "session 2" });
    assert.equal(await shown(), "1,668 of 5,000 events");
    await page.selectOption("#method", "ping");
    assert.equal(await shown(), "416 of 5,000 events");
    await page.fill("#stream", "s2 POST ping id 4");
    assert.equal(await shown(), "2 of 5,000 events");
    await page.locator(".row").first().click();
    await page.locator("#list").press("Escape");
    assert.equal(await shown(), "5,000 events");
    await page.locator("#details button").click();
    assert.equal(await page.inputValue("#stream"), "s2 POST ping id 4");
    assert.equal(await shown(), "4 of 5,000 events");
    await page.locator("#list").press("Escape");
    assert.equal(await shown(), "5,000 events");
    await page.check("#struck");
    assert.equal(await shown(), "13 of 5,000 events");
    await page.fill("#find", "nothing of that kind");
    assert.equal(await shown(), "0 of 5,000 events");
    await page.click("#next");
  }));

test("everything can be done by keyboard, and is told to whoever cannot see it", () =>
  opened(pages.long, "light", async (page) => {
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "find");
    await page.locator("#list").focus();
    await page.keyboard.press("n");
    await page.keyboard.press("n");
    const active = await page.locator("#list").getAttribute("aria-activedescendant");
    const row = page.locator(`#${active}`);
    assert.equal(await row.getAttribute("role"), "option");
    assert.equal(await row.getAttribute("aria-label"), "a rule: late: delay");
    assert.match(await text(page, "#details"), /s1\/post:150\/request#1/);
    await page.keyboard.press("p");
    assert.match(await text(page, "#details"), /s3\/post:50\/request#1/);
    await page.keyboard.press("ArrowUp");
    const said = await page.locator("[aria-selected=true]").getAttribute("aria-label");
    assert.equal(said, "0.200 s, s3 POST ping id 50, from the client to the server, request ping id 50");
  }));

// A control is the test of src/report/html.rs: there the same text is markup if it is not escaped.
test("what peers chose is text everywhere, and never markup", () =>
  opened(pages.hostile, "light", async (page) => {
    const places = await page.locator(".row").count();
    for (let place = 0; place < places; place += 1) {
      await page.locator(".row").nth(place).click();
      assert.ok((await text(page, "#details")).length > 0);
    }
    assert.equal(await page.evaluate(() => typeof globalThis.hacked), "undefined");
    assert.equal(await page.locator("img, script:not([type])").count(), 1, "the page's own program");
    assert.ok((await text(page, "#run")).includes(XSS), "shown as it is");
    assert.match(await text(page, "#judged"), /expectations \(1\)[\s\S]*✗ failed/);
  }));

test("text stands out from what is behind it, in the light and in the dark", async () => {
  for (const scheme of ["light", "dark"]) {
    await opened(pages.founding, scheme, async (page) => {
      await page.locator(".row.fault").click();
      const contrasts = await page.evaluate(contrastsOf, ["#verdict", "dt", ".row .time", ".row .name", ".fault .text", "#details dd", "th", ".tools label", ".heads .name"]);
      for (const [what, contrast] of contrasts) assert.ok(contrast >= 4.5, `${what} in the ${scheme}: ${contrast}`);
    });
  }
});

/** Runs in the page: WCAG 2's contrast of each text with what is painted behind it. */
function contrastsOf(selectors) {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((value) => value / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return numbers(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  return selectors.map((selector) => {
    const element = document.querySelector(selector);
    const [low, high] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => a - b);
    return [selector, (high + 0.05) / (low + 0.05)];
  });
}
