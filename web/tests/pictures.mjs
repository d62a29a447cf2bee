// Takes the pictures of docs/guide/start.md: the real program, the real page, a real browser. No test; run it with
// `cargo xtask pictures` after a change of the page, and look at what comes out.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { approve, cardOf, completed, holdId, open } from "./harness.mjs";

const to = process.argv[2] ?? "../docs/guide/pictures";
await mkdir(to, { recursive: true });
const world = await open();
try {
  // Small files that a reader on a phone can read, too.
  const page = await world.page({ viewport: { width: 900, height: 640 }, deviceScaleFactor: 1, colorScheme: "light" });
  const take = async (name, { element = page } = {}) => {
    if (element !== page) await element.waitFor();
    await element.screenshot({ path: join(to, `${name}.png`), animations: "disabled" });
  };
  const card = (await world.scenario(page, "approve")).first();
  const id = await holdId(card);
  const place = page.url();
  await page.setViewportSize({ width: 1200, height: 720 });
  await page.goto(world.url("/"));
  await cardOf(page, id).waitFor();
  await take("inbox");
  await page.setViewportSize({ width: 900, height: 640 });
  await page.goto(world.url(`/holds/${id}`));
  await take("hold", { element: cardOf(page, id) });
  await page.goto(place);
  await approve(cardOf(page, id));
  await completed(page);
  await take("session", { element: page.locator("main").last() });
} finally {
  await world.close();
}
