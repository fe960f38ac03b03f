// SPDX-License-Identifier: Apache-2.0
// Opens a report page in Firefox and says what is on it, as JSON:  node firefox.mjs MODULES PAGE
import { createRequire } from "node:module";
import { execSync } from "node:child_process";

const [, , modules, page] = process.argv;
const puppeteer = createRequire(`${modules}/`)("puppeteer-core");
const executablePath = execSync("command -v firefox-esr || command -v firefox").toString().trim();
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  const window = await browser.newPage();
  const wrong = [];
  window.on("console", message => wrong.push(message.text()));
  window.on("pageerror", error => wrong.push(String(error)));
  await window.setViewport({ width: 1440, height: 900 });
  await window.goto(`file://${page}`);
  await window.waitForSelector("#table tbody tr");
  const seen = {};
  const texts = selector => window.$$eval(selector, all => all.map(each => each.textContent));
  seen.cards = await texts(".card");
  seen.bar = await texts(".division p");
  seen.dots = await window.$$eval(".dot", dots => dots.map(dot => dot.dataset.name));
  seen.labels = await texts(".roof-label, .dot-label");
  seen.rows = (await texts("#table tbody tr")).length;
  await window.click(".card button");
  seen.pinned = await window.$$eval(".dot.on", dots => dots.length);
  seen.hash = await window.waitForFunction(() => location.hash.length > 1 && location.hash).then(handle => handle.jsonValue());
  await window.type("#search", "relu");
  seen.found = (await texts("#found"))[0];
  const box = await (await window.$("#chart")).boundingBox();
  const before = await window.$eval(".dot", dot => dot.getAttribute("transform"));
  await window.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await window.keyboard.down("Control");
  await window.mouse.wheel({ deltaY: -200 });
  await window.keyboard.up("Control");
  await window.waitForFunction(was => document.querySelector(".dot").getAttribute("transform") !== was, { timeout: 5000 }, before).then(() => { seen.zoomed = true; }, () => { seen.zoomed = false; });
  seen.wide = await window.evaluate(() => document.documentElement.scrollWidth);
  seen.wrong = wrong;
  console.log(JSON.stringify(seen));
} finally {
  await browser.close();
}
