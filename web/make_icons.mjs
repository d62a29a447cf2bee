// Draws the icons of the installed page from the same shapes as favicon.svg: node make_icons.mjs

import { writeFile } from "node:fs/promises";
import { crc32, deflateSync } from "node:zlib";

const BLUE = [0x2f, 0x4b, 0x8f];
const WHITE = [255, 255, 255];
// Each dot is the mean of so many by so many.
const FINER = 4;

/** In a square of 32: a rounded back, or with `bleed` one up to the edges and the bars inside of the safe middle. */
function colour(x, y, bleed) {
  const scale = bleed ? 0.75 : 1;
  const [u, v] = [(x - 16) / scale + 16, (y - 16) / scale + 16];
  for (const bar of [11, 21]) {
    const down = Math.max(8 - v, 0, v - 24);
    if (Math.hypot(u - bar, down) <= 2) return [...WHITE, 255];
  }
  const corner = Math.hypot(Math.max(Math.abs(x - 16) - 8, 0), Math.max(Math.abs(y - 16) - 8, 0));
  return bleed || corner <= 8 ? [...BLUE, 255] : [0, 0, 0, 0];
}

function picture(size, bleed) {
  const rows = Buffer.alloc(size * (1 + 4 * size));
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const sum = [0, 0, 0, 0];
      for (let n = 0; n < FINER * FINER; n += 1) {
        const at = (whole, part) => ((whole + (part + 0.5) / FINER) * 32) / size;
        const [r, g, b, a] = colour(at(x, n % FINER), at(y, Math.floor(n / FINER)), bleed);
        sum[0] += r * a;
        sum[1] += g * a;
        sum[2] += b * a;
        sum[3] += a;
      }
      const alpha = sum[3];
      const dot = alpha === 0 ? [0, 0, 0, 0] : [sum[0] / alpha, sum[1] / alpha, sum[2] / alpha, alpha / (FINER * FINER)];
      rows.set(dot.map(Math.round), y * (1 + 4 * size) + 1 + 4 * x);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

for (const [name, size, bleed] of [["icon-192", 192, false], ["icon-512", 512, false], ["icon-maskable-512", 512, true]]) {
  await writeFile(new URL(`public/${name}.png`, import.meta.url), picture(size, bleed));
}
