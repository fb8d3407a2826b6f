// Opens reports in Chromium and checks what a reader needs: no error and no request, sorting and filtering by mouse and by keyboard, no
// horizontal overflow on a phone, and accessibility by axe-core, in light and in dark. `cargo xtask browser` starts it.
//
// node check.mjs CHROMIUM PAGE... : the first page is also changed for the worse, and each change must be detected.

import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join, dirname } from "node:path";
import { pathToFileURL } from "node:url";

// The packages are below the directory of the call, which is not that of this file.
const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

const ARGUMENTS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const PHONE = 400;
// Rows that axe looks at in each table: the others are like them, and a thousand would take minutes.
const ROWS = 12;

const [executablePath, ...pages] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", ...ARGUMENTS] });

/** What is wrong with a page, a sentence each; with `kind`, as far as faults of that kind need it. */
async function faults(file, schemes = ["light", "dark"], kind = "") {
  const found = [];
  for (const colorScheme of schemes) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1200, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(60000);
    page.on("console", (message) => message.type() === "error" && found.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => found.push(`script: ${error.message}`));
    page.on("request", (request) => /^(file|data):/.test(request.url()) || found.push(`network: ${request.url()}`));
    await page.goto(pathToFileURL(file).href);
    const axeAlone = kind.startsWith("axe");
    if (colorScheme === "light" && !axeAlone) {
      await answers(page, found);
      found.push(...(await page.evaluate(tablesWork)));
      await fits(page, found);
      await page.setViewportSize({ width: 1200, height: 900 });
    }
    if (kind === "" || axeAlone) await accessible(page, colorScheme, found);
    await context.close();
  }
  return found;
}

/** A reader's own mouse and keyboard, on the first table that can be sorted by numbers. */
async function answers(page, found) {
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement?.getAttribute("href"));
  if (first !== "#content") found.push(`keyboard: the first stop is ${first}, not the link to the content`);
  const head = page.locator("thead th.n:visible").first();
  try {
    await head.getByRole("button").click();
    if ((await head.getAttribute("aria-sort")) !== "descending") found.push("sorting: a click on a number's column does not put the largest first");
    await head.getByRole("button").press("Enter");
    if ((await head.getAttribute("aria-sort")) !== "ascending") found.push("sorting: the enter key does not turn the order round");
  } catch (error) {
    found.push(`sorting: no button of a number's column can be pressed: ${error.message.split("\n")[0]}`);
  }
}

/** Sorts each table by each column of numbers, both ways, and filters it. Runs in the page. */
function tablesWork() {
  const found = [];
  let sorted = 0;
  for (const table of document.querySelectorAll(".table")) {
    const rows = () => [...table.querySelectorAll("tbody tr")];
    const numbers = (column) => rows().map(({ cells }) => Number((cells[column].dataset.key ?? cells[column].textContent).replaceAll(",", "")));
    [...table.querySelectorAll("thead th")].forEach((head, column) => {
      const before = head.classList.contains("n") ? numbers(column) : [];
      if (before.some(Number.isNaN) || new Set(before).size < 2) return;
      sorted += 1;
      const button = head.querySelector("button");
      head.removeAttribute("aria-sort");
      for (const [order, wrong] of [["descending", (a, b) => a < b], ["ascending", (a, b) => a > b]]) {
        button.click();
        const after = numbers(column);
        if (after.some((n, i) => i > 0 && wrong(after[i - 1], n))) found.push(`sorting: ${table.id}, column ${column} is not ${order}`);
        if (head.getAttribute("aria-sort") !== order) found.push(`sorting: ${table.id}, column ${column} does not say that it is ${order}`);
        if ([...before].sort().join() !== [...after].sort().join()) found.push(`sorting: ${table.id} lost or gained rows`);
      }
    });
    const input = table.querySelector(".filter input");
    if (!input) continue;
    const says = table.querySelector(".filter output");
    const shown = (word) => {
      input.value = word;
      input.dispatchEvent(new Event("input"));
      return rows().filter((row) => getComputedStyle(row).display !== "none").map((row) => row.textContent.toLowerCase());
    };
    const word = rows().at(-1).cells[0].textContent.trim().split(/\s+/)[0].toLowerCase();
    const expected = rows().filter((row) => row.textContent.toLowerCase().includes(word)).length;
    const some = shown(word);
    if (some.length !== expected || !some.every((text) => text.includes(word))) found.push(`filter: ${table.id} shows ${some.length} rows for ${word}, not ${expected}`);
    if (!says.textContent.startsWith(`${expected} `)) found.push(`filter: ${table.id} says ${says.textContent} of ${expected}`);
    if (shown("no row has this").length !== 0) found.push(`filter: ${table.id} shows rows for a word that none has`);
    if (shown("").length !== rows().length) found.push(`filter: ${table.id} does not show all rows again`);
  }
  if (sorted === 0) found.push("sorting: no table has a column of different numbers");
  return found;
}

/** No horizontal overflow on a phone, with everything closed and with everything open, nor on paper. */
async function fits(page, found) {
  await page.setViewportSize({ width: PHONE, height: 800 });
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
  for (const open of [true, false]) {
    await page.evaluate((open) => document.querySelectorAll("details").forEach((part) => (part.open = open)), open);
    const width = await wide();
    if (width > PHONE) found.push(`overflow: ${width} px on a screen of ${PHONE} px, with everything ${open ? "open" : "closed"}`);
  }
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 720, height: 800 });
  if ((await wide()) > 720) found.push(`overflow: ${await wide()} px on paper of 720 px`);
  await page.emulateMedia({ media: "screen" });
}

/** What axe-core finds, with every part open and the first rows of each table. In the dark only contrast can be another. */
async function accessible(page, colorScheme, found) {
  await page.evaluate((rows) => {
    document.querySelectorAll("details").forEach((part) => (part.open = true));
    document.querySelectorAll("tbody").forEach((body) => [...body.rows].slice(rows).forEach((row) => row.remove()));
  }, ROWS);
  await page.evaluate(axe);
  const options = { resultTypes: ["violations"], ...(colorScheme === "dark" && { runOnly: ["color-contrast"] }) };
  const { violations } = await page.evaluate((options) => window.axe.run(document, options), options);
  for (const { id, help, nodes } of violations) found.push(`axe, ${colorScheme}: ${id}: ${help}: ${nodes[0].html.slice(0, 160)} (${nodes.length} in all)`);
}

/** Changes for the worse: the scheme that shows them, and the beginning of what must be found. */
const WORSE = [
  ["light", "console:", "</body>", "<script>console.error('planted')</script></body>"],
  ["light", "script:", "</body>", "<script>throw new Error('planted')</script></body>"],
  ["light", "network:", "</body>", "<img alt='' src='http://127.0.0.1:9/planted'></body>"],
  ["light", "sorting:", "body.append(...keyed", "body.contains(...keyed"],
  ["light", "filter:", "row.hidden = !words", "row.hidden = words"],
  ["light", "overflow:", '<main id="content">', '<main id="content"><div style="width: 700px">wide</div>'],
  ["light", "axe, light: color-contrast", "--soft: #565b63", "--soft: #b9bcc2"],
  ["dark", "axe, dark: color-contrast", "--soft: #a6abb4", "--soft: #4a4e55"],
  ["light", "axe, light: html-has-lang", '<html lang="en">', "<html>"],
];

let failed = 0;
for (const file of pages) {
  const begun = performance.now();
  const found = await faults(file);
  failed += found.length;
  const name = `${basename(dirname(file))}/${basename(file)}`;
  console.log(`${name}: ${found.length === 0 ? "works" : `${found.length} faults`} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  for (const fault of found) console.log(`  ${fault}`);
}
const sound = await readFile(pages[0], "utf8");
const policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
for (const [scheme, expected, good, bad] of WORSE) {
  // What the page's own policy would stop is to be seen by the check.
  const worse = sound.replace(policy, "").replace(good, bad);
  const file = join(process.cwd(), "worse.html");
  await writeFile(file, worse);
  const detected = worse !== sound.replace(policy, "") && (await faults(file, [scheme], expected)).some((fault) => fault.startsWith(expected));
  if (!detected) {
    failed += 1;
    console.log(`a page changed for the worse passes: no fault begins with \`${expected}\``);
  }
}
await browser.close();
console.log(`${pages.length} pages, ${WORSE.length} changes for the worse: ${failed === 0 ? "all as they must be" : `${failed} faults`}`);
process.exitCode = failed === 0 ? 0 : 1;
