// The word that something is folded and waits to be opened, with the way to it.

import { showFold } from "../folding";
import { t } from "../i18n";

interface Props {
  within: () => Element | null;
  text?: string;
}

export function UnreadNote({ within, text = t("approve.unread") }: Props) {
  return (
    <span class="unread">
      {text}{" "}
      <button type="button" class="link" data-show-fold onClick={() => showFold(within())}>
        {t("approve.unread.show")}
      </button>
    </span>
  );
}

export function cardOf(id: string): Element | null {
  return document.querySelector(`article[data-hold="${CSS.escape(id)}"]`);
}
