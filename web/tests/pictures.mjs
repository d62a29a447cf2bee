// Takes the pictures of README.md and docs/guide/start.md: the real program, the real page, a real browser. No test; run it with
// `cargo xtask pictures` after a change of the page, and look at what comes out.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { approve, cardOf, completed, holdId, open } from "./harness.mjs";

const to = process.argv[2] ?? "../docs/guide/pictures";
await mkdir(to, { recursive: true });
const world = await open();

/** A card whose buttons can be pressed, and whose facts have come. */
async function shown(page, id) {
  const card = cardOf(page, id);
  await card.locator("[data-approve]:not([disabled])").waitFor();
  await card.locator("[data-fact='card.before'] small").first().waitFor();
  return card;
}

try {
  // Small files that a reader on a phone can read, too.
  const desk = { width: 1200, height: 780 };
  const page = await world.page({ viewport: desk, deviceScaleFactor: 1, colorScheme: "light" });
  const take = (name, of = page) => of.screenshot({ path: join(to, `${name}.png`), animations: "disabled" });
  const id = await holdId((await world.scenario(page, "approve")).first());
  const place = page.url();
  await page.goto(world.url("/"));
  await shown(page, id);
  await take("inbox");
  // The whole card.
  await page.setViewportSize({ width: 1200, height: 1000 });
  await page.goto(world.url(`/holds/${id}`));
  await take("hold", await shown(page, id));
  await page.setViewportSize(desk);

  const phone = await world.page({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 1, colorScheme: "light" });
  await phone.goto(world.url(`/holds/${id}`));
  await shown(phone, id);
  await take("phone", phone);

  // The same in Chinese, with the night's colours.
  const chinese = await world.page({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 1, colorScheme: "dark", locale: "zh-CN" });
  await chinese.goto(world.url(`/holds/${id}`));
  await shown(chinese, id);
  await take("phone-zh", chinese);

  // What a team has before it: calls of several askers, some of them urgent.
  await world.scenario(page, "choose");
  await world.scenario(page, "parallel", 2);
  await world.openHold({ kind: "approve", title: "Restart web-3", risk: "high", expires_in_s: 240, call: { tool: "restart_service", arguments: { host: "web-3", service: "nginx" } } });
  await page.goto(world.url(`/holds/${id}`));
  await shown(page, id);
  await take("overview");

  await page.goto(place);
  await approve(cardOf(page, id));
  await completed(page);
  // The list beside it comes a moment later.
  await page.locator(".row-current .pill").waitFor({ state: "detached" });
  await take("session");

  // What an admin sees: who decided what, and how long it waited.
  await page.goto(world.url("/admin/figures"));
  await page.locator("[data-testid=figures]").waitFor();
  await take("admin");
} finally {
  await world.close();
}
