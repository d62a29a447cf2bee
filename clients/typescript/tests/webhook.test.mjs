// Callbacks: the vector that Standard Webhooks publishes, and what a forger would try.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BadSignature, verifyCallback } from "holdpoint";

const KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = 1_614_265_330;
const BODY = '{"test": 2432232314}';
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": String(NOW),
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const check = ({ secret = KEY, body = BODY, now = NOW, ...headers } = {}) => {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [`webhook-${name}`, value]));
  return verifyCallback(secret, { ...HEADERS, ...own }, body, { now });
};

test("the published vector is taken", async () => {
  assert.deepEqual(await check(), { test: 2432232314 });
  assert.deepEqual(await check({ body: Buffer.from(BODY) }), { test: 2432232314 });
  assert.deepEqual(await verifyCallback(KEY, new Headers(HEADERS), BODY, { now: NOW }), { test: 2432232314 });
  await check({ secret: `whsec_bmV3IGtleQ== ${KEY}` });
  await check({ signature: `v1a,xyz v1,AAAA ${HEADERS["webhook-signature"]}` });
});

test("everything else is refused", async () => {
  for (const forged of [
    { body: `${BODY} ` },
    { id: "msg_other" },
    { timestamp: String(NOW + 1) },
    { signature: "v1," },
    { signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=" },
    { signature: HEADERS["webhook-signature"].replace("v1", "v2") },
    { timestamp: "soon" },
    { timestamp: "-1" },
    { now: NOW + 301 },
    { now: NOW - 301 },
    { secret: "whsec_bmV3IGtleQ==" },
  ]) {
    await assert.rejects(check(forged), BadSignature, JSON.stringify(forged));
  }
  await assert.rejects(verifyCallback(KEY, {}, BODY, { now: NOW }), BadSignature);
  for (const secret of ["", " ", "whsec_", "whsec_?", `${KEY} other`]) {
    await assert.rejects(check({ secret }), TypeError, secret);
  }
});
