// Takes the pictures of docs/guide/start.md: the real program, the real page, a real browser. No test; run it with
// `cargo xtask pictures` after a change of the page, and look at what comes out.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { open } from "./harness.mjs";

const to = process.argv[2] ?? "../docs/guide/pictures";
await mkdir(to, { recursive: true });
const world = await open();
try {
  // Small files that a reader on a phone can read, too.
  const page = await world.page({ viewport: { width: 900, height: 640 }, deviceScaleFactor: 1, colorScheme: "light" });
  const take = (name, options = {}) => page.screenshot({ path: join(to, `${name}.png`), animations: "disabled", ...options });
  await page.goto(world.url("/"));
  await page.waitForSelector("[data-scenario]");
  await take("inbox");
  await world.scenario(page, "approve");
  await page.waitForTimeout(500);
  const { items } = await world.api("GET", "/v1/holds?state=pending");
  await page.goto(world.url(`/holds/${items[0].id}`));
  await page.waitForSelector("[data-hold]", { timeout: 10_000 }).catch(() => page.waitForLoadState("networkidle"));
  await take("hold", { fullPage: true });
  const hold = await world.hold(items[0].id);
  await world.api("POST", `/v1/holds/${hold.id}/answer`, { digest: hold.digest, answer: { verdict: "approve", scope: "once" } });
  await world.api("GET", `/v1/holds/${hold.id}/wait?until=settled&timeout_s=30`);
  await page.goto(world.url(`/sessions/${hold.session}`));
  await page.getByText("Done. The database says").waitFor();
  await take("session", { fullPage: true });
} finally {
  await world.close();
}
