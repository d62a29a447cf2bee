// The one place where a person decides, behind the hold line. It stays in view: on a desk at the bottom of the pane, on a phone at
// the bottom of the screen, with everything a thumb presses 48 px high.

import { createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { t } from "../i18n";
import { useMe } from "../who";

/** What the card says about itself, after the controls of a question and before the bar. */
export const BeforeBar = createContext<ComponentChildren>(null);

interface Props {
  children?: ComponentChildren;
  /** A panel or a menu above the buttons. */
  above?: ComponentChildren;
  /** A word at the end, in place of who decides. */
  note?: ComponentChildren;
}

export function Bar({ children, above, note }: Props) {
  const me = useMe();
  return (
    <>
      {useContext(BeforeBar)}
      <section class="bar" aria-label={t("answer.title")}>
        {above ? <div class="bar-above">{above}</div> : null}
        <div class="bar-in">
          {children}
          <span class="bar-note">{note ?? t("card.you", { name: me.name })}</span>
        </div>
      </section>
    </>
  );
}
