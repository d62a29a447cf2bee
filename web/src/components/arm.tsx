// The button that approves. A mouse or a finger presses it; a keyboard arms it with one key, and then the button itself says
// what Enter will do. So one key never approves anything, and a press never hits a card that has just come.

import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { useKey } from "../keys";
import { Kbd } from "./kbd";

interface Props {
  label: string;
  /** What Enter will do, in words of ours: "delete 214 rows". */
  does: string;
  /** Only one card listens to keys: the one in the reading pane or on its own page. */
  keys?: boolean;
  off: boolean;
  /** The card has been in view long enough; see `useCalm`. */
  calm: boolean;
  press: () => void;
  kind?: "primary" | "danger-solid";
  expanded?: boolean;
}

export function ArmButton({ label, does, keys = false, off, calm, press, kind = "primary", expanded }: Props) {
  const [armed, setArmed] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const ready = calm && !off;
  useKey("a", keys && ready ? () => { setArmed(true); button.current?.focus(); } : null);
  useKey("Escape", armed ? () => button.current?.blur() : null);
  useEffect(() => {
    if (!ready) setArmed(false);
  }, [ready]);
  return (
    <button
      ref={button}
      type="button"
      class={`${kind}${armed ? " armed" : ""}${calm ? "" : " settling"}`}
      data-approve
      data-armed={armed}
      disabled={!ready}
      aria-expanded={expanded}
      aria-keyshortcuts={keys ? "a" : undefined}
      onBlur={() => setArmed(false)}
      onKeyDown={(event) => {
        // Other keys were not meant for this button. Escape is heard above, where it is used up: the page has one of its own.
        if (armed && event.key !== "Enter" && event.key !== "Escape") button.current?.blur();
      }}
      onClick={press}
    >
      {armed ? t("approve.armed", { does }) : label}
      {keys ? <Kbd>{armed ? "↵" : "a"}</Kbd> : null}
    </button>
  );
}
