// What a decision means for the call that waits for it.

import { Cancelled, Denied, EditDoesNotFit, Expired, Responded, Unreadable } from "./errors.js";
import type { Hold, JsonObject } from "./hold.js";
import { copy, isObject, isPartial, jsonKind, sameButSecrets } from "./json.js";

/** Everything but an approval ends in an error of its own. */
export function mustBeApproved(hold: Hold): void {
  const { state, title, decision } = hold;
  if (state === "approved") return;
  if (state === "denied") {
    const reason = decision?.reason ?? undefined;
    const by = decision?.by ?? (decision?.rule ? `the rule "${decision.rule}"` : "a rule");
    throw new Denied(`${title}: denied by ${by}${reason ? `: ${reason}` : ""}`, hold, reason);
  }
  if (state === "expired") throw new Expired(`${title}: expired, no one answered in time`, hold);
  if (state === "cancelled") {
    const reason = hold.cancelled?.reason ?? undefined;
    throw new Cancelled(`${title}: cancelled${reason ? `: ${reason}` : ""}`, hold, reason);
  }
  if (state === "answered" && decision?.verdict === "respond") {
    throw new Responded(`${title}: answered in its place`, hold, String(decision.content ?? ""));
  }
  throw new Unreadable(`${title}: the state ${state} is no approval`, hold);
}

/**
 * The arguments of the approved call, and whether a person edited them. Where nobody edited them they must be those
 * that were sent; anything else is not trusted.
 */
export function approvedArguments(hold: Hold, tool: string, sent: JsonObject): { args: JsonObject; edited: boolean } {
  const approved = hold.call?.arguments;
  if (hold.call?.tool !== tool || !isObject(approved)) {
    throw new Unreadable("the approved hold is about another call", hold);
  }
  if (sameButSecrets(sent, approved)) return { args: copy(sent), edited: false };
  if (!hold.answers.some((answer) => answer.arguments !== undefined && answer.arguments !== null)) {
    throw new Unreadable("the approved arguments are not those that were sent, and nobody edited them", hold);
  }
  if (isPartial(approved)) {
    const why = "the arguments were edited and hold a secret, or a number that JavaScript would round";
    throw new EditDoesNotFit(why, hold);
  }
  return { args: copy(approved), edited: true };
}

/** Standard Schema, which zod, valibot, arktype and others implement. */
export interface StandardSchema {
  readonly "~standard": {
    readonly validate: (value: unknown) => unknown;
  };
}

export interface Fit {
  schema?: StandardSchema | undefined;
  check?: ((args: JsonObject) => unknown) | undefined;
}

/** Without a schema, an edit may change values, and neither their names nor their kinds. */
export async function mustFit(fit: Fit, edited: JsonObject, sent: JsonObject, hold: Hold): Promise<void> {
  const no = (why: string) => new EditDoesNotFit(`the arguments were edited and do not fit: ${why}`, hold);
  if (fit.schema) {
    const result = (await fit.schema["~standard"].validate(copy(edited))) as { issues?: { message: string }[] };
    if (result?.issues !== undefined) throw no(result.issues.map((issue) => issue.message).join("; "));
  } else {
    const names = new Set([...Object.keys(edited), ...Object.keys(sent)]);
    for (const name of names) {
      const alike = Object.hasOwn(edited, name) && Object.hasOwn(sent, name);
      if (!alike || jsonKind(edited[name]) !== jsonKind(sent[name])) {
        throw no(`\`${name}\` is not as it was; give a \`schema\` to say what fits`);
      }
    }
  }
  if (!fit.check) return;
  let fits: unknown;
  try {
    fits = await fit.check(copy(edited));
  } catch (error) {
    throw no(error instanceof Error ? error.message : String(error));
  }
  if (fits === false) throw no("`check` says so");
}
