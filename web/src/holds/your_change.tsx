// What an edit changed, argument by argument. Values are compared as they are written: a browser would take two large numbers for one.

import { useMemo } from "preact/hooks";
import { Chip } from "../foreign";
import { t } from "../i18n";
import { aroundChanges, compare } from "./compare";
import { Difference } from "./difference";
import { membersOf, minified, pretty, valueOf } from "./raw_json";

// More lines than this are shown only around what changes: the rest was read before the edit.
const LINES_MOST = 40;

export function YourChange({ before, after }: { before: string; after: string }) {
  const rawOf = (text: string) => new Map(membersOf(text).map((member) => [member.name, member.raw]));
  const [old, now] = [rawOf(before), rawOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => minified(old.get(name) ?? "") !== minified(now.get(name) ?? ""));
  return (
    <>
      {names.map((name) => (
        <OneChange key={name} name={name} before={shown(old.get(name))} after={shown(now.get(name))} />
      ))}
    </>
  );
}

function OneChange({ name, before, after }: { name: string; before: string; after: string }) {
  const rows = useMemo(() => {
    const all = compare(before, after);
    return all.length > LINES_MOST ? aroundChanges(all) : all;
  }, [before, after]);
  return <Difference label={<>{t("edit.diff")} <Chip text={name} /></>} by="person" rows={rows} />;
}

function shown(raw: string | undefined): string {
  return raw === undefined ? "" : raw.startsWith('"') ? (valueOf(raw) as string) : pretty(raw);
}
