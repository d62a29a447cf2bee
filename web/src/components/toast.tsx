// One line at the bottom for a few seconds: what has just happened, and one thing to do about it. It never holds foreign text. It does
// not speak by itself: its buttons would be read out with it.

import { useEffect, useState } from "preact/hooks";
import { Icon, type IconName } from "../icons";
import { t } from "../i18n";
import { go } from "../route";
import { speak } from "../spoken";

export interface ToastLine {
  icon: IconName;
  text: string;
  /** What of it a screen reader is told, where that is not all. */
  spoken?: string;
  /** Where one can read more. */
  href?: string;
  link?: string;
}

// Long enough to read two lines, and to reach the link with a keyboard.
const SHOWN_MS = 8000;

let show: (line: ToastLine) => void = () => {};

export function toast(line: ToastLine): void {
  show(line);
  const spoken = line.spoken ?? line.text;
  if (spoken !== "") speak(spoken);
}

export function Toasts() {
  const [line, setLine] = useState<{ is: ToastLine; at: number } | null>(null);
  const [kept, keep] = useState(false);
  useEffect(() => {
    show = (is) => setLine({ is, at: Date.now() });
    return () => {
      show = () => {};
    };
  }, []);
  useEffect(() => {
    if (line === null || kept) return;
    const timer = setTimeout(() => setLine(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [line, kept]);
  const { href, link } = line?.is ?? {};
  return (
    <div class="toasts" data-testid="toast">
      {line === null ? null : (
        <div class="toast" onMouseEnter={() => keep(true)} onMouseLeave={() => keep(false)} onFocusIn={() => keep(true)} onFocusOut={() => keep(false)}>
          <Icon name={line.is.icon} />
          <span class="grow">{line.is.text}</span>
          {href && link ? (
            <button type="button" class="tiny" onClick={() => go(href)}>
              {link}
            </button>
          ) : null}
          <button type="button" class="tiny" aria-label={t("app.close")} onClick={() => setLine(null)}>
            <Icon name="denied" />
          </button>
        </div>
      )}
    </div>
  );
}
