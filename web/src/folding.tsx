// A long foreign text is folded, with its size, its first and its last part in view: the dangerous half of a long value is often its
// end. It does not matter how deep it lies or what it is part of: one rule, by bytes, for all that is drawn in lines.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Lines, useColours, widthOf, type Colours, type LinesProps } from "./foreign_lines";
import { cut, cutEnd } from "./foreign_spans";
import { t } from "./i18n";
import type { Span } from "./wire";

const FOLD_BYTES = 4096;
const FIRST_CHARACTERS = 600;
const LAST_CHARACTERS = 200;

/** Which long texts of a hold were opened. An approval waits for all of them. */
export interface Folds {
  opened: ReadonlySet<string>;
  open(key: string): void;
}
export const FoldsOf = createContext<Folds>({ opened: new Set(), open: () => {} });

export const isLong = ({ bytes }: { bytes: number }): boolean => bytes > FOLD_BYTES;

/** Whether a text of so many bytes is drawn folded now. */
export function useFolded(fold: string, bytes: number): boolean {
  return !useContext(FoldsOf).opened.has(fold) && isLong({ bytes });
}

interface Props extends LinesProps {
  /** Names the text within its hold. */
  fold: string;
  bytes: number;
}

export function FoldedLines({ fold, bytes, code = null, colours, ...drawn }: Props) {
  const { lines, marks } = drawn;
  const { open } = useContext(FoldsOf);
  const folded = useFolded(fold, bytes);
  const read = useColours(lines, code);
  const all = colours ?? read ?? undefined;
  if (!folded) return <Lines {...drawn} colours={all} />;
  const last = cutEnd(lines, LAST_CHARACTERS);
  const before = lines.length - last.length;
  return (
    <>
      <Lines {...drawn} lines={cut(lines, FIRST_CHARACTERS)} colours={all} />
      <div class="fx-fold" data-fold={fold}>
        <span>{t("view.folded", { bytes: bytes.toLocaleString() })}</span>
        <button type="button" class="tiny" onClick={(event) => { keepFocus(event.currentTarget); open(fold); }}>
          {t("view.open")}
        </button>
        <span class="fx-fold-end">{t("view.folded.end")}</span>
      </div>
      <Lines {...drawn} lines={last} marks={marks?.slice(before)} colours={all && last.map((line, at) => endOf(all[before + at] ?? null, line))} before={before} />
    </>
  );
}

/** The button goes away when it is pressed; the text that it opened takes the focus, so that a keyboard is not back at the top. */
function keepFocus(button: HTMLElement): void {
  const frame = button.closest<HTMLElement>(".fx");
  if (frame === null) return;
  frame.tabIndex = -1;
  frame.focus({ preventScroll: true });
}

/** Leads to the next text in `within` that is folded. */
export function showFold(within: Element | null): void {
  const button = within?.querySelector<HTMLElement>("[data-fold] button");
  if (!button) return;
  for (let one = button.closest("details"); one; one = one.parentElement?.closest("details") ?? null) one.open = true;
  button.scrollIntoView({ block: "center" });
  button.focus({ preventScroll: true });
}

/** The colours of the end of a line that begins in its middle. */
function endOf(colours: Colours, line: Span[]): Colours {
  return colours === null ? null : colours.slice(colours.length - widthOf(line));
}
