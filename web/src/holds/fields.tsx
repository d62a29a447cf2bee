// Arguments and context as they are drawn: code that runs first, then one list, in which "1" and 1 look different, then the other
// texts that stand apart.

import { Caption, exact, Foreign, PathChip } from "../foreign";
import { FoldedLines } from "../folding";
import { t, word } from "../i18n";
import type { ApartText, ArrangedFields, FieldsPart } from "./arranged";

export function Fields({ part, arranged }: { part: FieldsPart; arranged: ArrangedFields }) {
  const { lines, bytes, fold, apart } = arranged;
  const framed = (one: ApartText) => <Apart key={apart.indexOf(one)} one={one} by={part.by} />;
  return (
    <>
      {apart.filter((one) => one.code !== null).map(framed)}
      {lines.length > 0 ? (
        <figure class="fx">
          <Caption label={word("view.label", part.label)} by={part.by} />
          <FoldedLines lines={lines.map((line) => line.spans)} colours={lines.map((line) => line.colours)} marks={[]} fold={fold} bytes={bytes} />
        </figure>
      ) : null}
      {apart.filter((one) => one.code === null).map(framed)}
    </>
  );
}

/** In a frame of its own, with its size and the exact bytes to copy. */
function Apart({ one, by }: { one: ApartText; by: string }) {
  const { path, text, code, fold } = one;
  const only = path.length === 1 && typeof path[0] === "object" ? exact(path[0]) : null;
  const label = (
    <>
      {code ? `${t(`code.${code}`)} ` : null}
      {code !== null && only?.toLowerCase() === code ? <span class="sr">{only}</span> : <PathChip path={path} />}
    </>
  );
  return <Foreign label={label} by={by} text={text} fold={fold} code={code} />;
}
