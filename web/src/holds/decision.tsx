// What was decided, in words: the reason, the choice, the form, the edit. Secrets of a form are never drawn.

import type { ComponentChildren } from "preact";
import { t, type Key } from "../i18n";
import { Chip, Quoted } from "../foreign";
import { FileOfCall, filesIn } from "../files/of_call";
import { Plain, Value } from "../plain";
import type { Hold, Json, JsonObject, Said } from "../wire";
import { isObject } from "./schema";

export function DecisionDetails({ hold }: { hold: Hold }) {
  const said: Said | null = hold.decision ?? withdrawn(hold);
  if (!said) return null;
  const rows: [Key, ComponentChildren][] = [];
  if (said.rule && !said.by) rows.push(["hold.rule", <Plain text={said.rule} />]);
  if (said.scope === "session") rows.push(["settled.session", null]);
  if (said.arguments !== undefined && said.arguments !== null) rows.push(["settled.edited", <Value value={said.arguments} />]);
  if (said.reason) rows.push(["settled.reason", <Quoted text={said.reason} prose />]);
  if (said.note) rows.push(["settled.note", <Quoted text={said.note} prose />]);
  if (said.choose) rows.push(["settled.chose", <Chosen hold={hold} chosen={said.choose} />]);
  if (said.fill) rows.push(["settled.filled", <Filled hold={hold} values={said.fill} />]);
  if (said.perform) {
    const key = said.perform.is_error ? "settled.performed.error" : "settled.performed";
    rows.push([key, <Value value={said.perform.content} />]);
  }
  if (said.settle) rows.push([`settled.settle.${said.settle}`, said.content ? <Value value={said.content} /> : null]);
  if (said.verdict === "respond") rows.push(["settled.responded", <Value value={said.content} />]);
  if (said.stop) rows.push(["settled.stop", null]);
  if (rows.length === 0) return null;
  return (
    <dl class="facts">
      {rows.map(([key, value]) => (
        <div key={key}>
          <dt>{t(key)}</dt>
          {value === null ? null : <dd>{value}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** A withdrawal decides nothing, but its reason is told in the same place. */
function withdrawn({ cancelled }: Hold): Said | null {
  return cancelled?.reason ? { reason: cancelled.reason } : null;
}

function Chosen({ hold, chosen }: { hold: Hold; chosen: string[] }) {
  const label = (id: string) => (hold.options ?? []).find((option) => option.id === id)?.label ?? id;
  return (
    <ul class="plain-list">
      {chosen.map((id) => (
        <li key={id}>
          <Chip text={label(id)} />
        </li>
      ))}
    </ul>
  );
}

function Filled({ hold, values }: { hold: Hold; values: JsonObject }) {
  const properties = hold.schema?.["properties"];
  const secret = (name: string): boolean => {
    const property: Json | undefined = isObject(properties) ? properties[name] : undefined;
    return isObject(property) && property["writeOnly"] === true;
  };
  return (
    <dl class="facts" data-answered>
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>
            <Chip text={name} />
          </dt>
          <dd>{secret(name) ? <em>{t("settled.secret")}</em> : typeof value === "string" && filesIn(value).length > 0 ? <FileOfCall id={value} /> : <Value value={value} />}</dd>
        </div>
      ))}
    </dl>
  );
}
