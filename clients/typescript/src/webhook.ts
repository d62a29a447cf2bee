// Callbacks: signed as Standard Webhooks says, with the secret that the server's configuration names.

import { BadSignature } from "./errors.js";

const TOLERANCE_S = 300;

export interface CallbackOptions {
  toleranceS?: number;
  /** Seconds since 1970; the clock's if not said. */
  now?: number;
}

/**
 * The event that the body holds, if one of its signatures is by one of the secret's keys. `body` is as it arrived: bytes,
 * or text that nobody parsed. A delivery may come twice: `webhook-id` is the same then.
 */
export async function verifyCallback(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string | Uint8Array,
  options: CallbackOptions = {},
): Promise<{ [name: string]: unknown }> {
  const known = headers instanceof Headers ? headers : new Headers(Object.entries(headers).map(flat));
  const [id, sent, claimed] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = known.get(name);
    if (value === null) throw new BadSignature(`the header ${name} is missing`);
    return value;
  }) as [string, string, string];
  if (!/^[0-9]{1,14}$/.test(sent)) throw new BadSignature("webhook-timestamp is not a number of seconds");
  const away = Math.abs((options.now ?? Date.now() / 1000) - Number(sent));
  if (away > (options.toleranceS ?? TOLERANCE_S)) throw new BadSignature(`it was signed ${Math.round(away)} s from now`);

  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${sent}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const claims = claimed.split(" ").filter((claim) => claim.startsWith("v1,"));
  let good = false;
  for (const raw of keys(secret)) {
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", raw, hmac, false, ["verify"]);
    for (const claim of claims) {
      const signature = fromBase64(claim.slice(3));
      // WebCrypto compares in the time that the comparison itself takes.
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) good = true;
    }
  }
  if (!good) throw new BadSignature("no signature is by this secret");
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new BadSignature("the body is signed and is not JSON");
  }
  if (typeof event !== "object" || event === null || Array.isArray(event)) {
    throw new BadSignature("the body is signed and is no event");
  }
  return event as { [name: string]: unknown };
}

function flat([name, value]: [string, string | string[] | undefined]): [string, string] {
  return [name, Array.isArray(value) ? value.join(" ") : (value ?? "")];
}

/** One key, or the new and the old, each with `whsec_` before it; any other text is a key as it stands. */
function keys(secret: string): Uint8Array<ArrayBuffer>[] {
  if (!secret.trim()) throw new TypeError("the secret is empty");
  if (!secret.trimStart().startsWith("whsec_")) return [new TextEncoder().encode(secret)];
  return secret
    .trim()
    .split(/\s+/)
    .map((part) => {
      const key = part.startsWith("whsec_") ? fromBase64(part.slice(6)) : undefined;
      if (!key?.length) throw new TypeError("every part of the secret must be `whsec_` and base64");
      return key;
    });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bare = text.replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]+$/.test(bare)) return undefined;
  try {
    return Uint8Array.from(atob(bare), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
