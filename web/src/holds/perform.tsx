// A call that a person carries out. What the browser can do itself is done here, at a press; anything else is done by hand, and the
// person writes what came of it.

import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { useDraft } from "../drafts";
import { t } from "../i18n";
import type { AnswerProps } from "./answer";
import { ConfirmWay, InputWay, SelectWay } from "./performs/asked";
import { CopyWay, FileWay, LocationWay, PasteWay } from "./performs/device";
import { Give, type WayProps } from "./performs/give";
import { interactionOf, type Interaction } from "./performs/which";

const WAYS: Record<Interaction, ComponentType<WayProps>> = {
  confirm: ConfirmWay,
  input: InputWay,
  select: SelectWay,
  file: FileWay,
  copy: CopyWay,
  paste: PasteWay,
  location: LocationWay,
  by_hand: ByHand,
};

export function PerformAnswer(props: AnswerProps) {
  const interaction = interactionOf(props.hold);
  const [byHand, setByHand] = useState(interaction === "by_hand");
  const Way = WAYS[byHand ? "by_hand" : interaction];
  const otherWay =
    interaction === "by_hand" ? null : (
      <p>
        <button type="button" class="link" onClick={() => setByHand(!byHand)}>
          {t(byHand ? "perform.by_page" : "perform.by_hand")}
        </button>
      </p>
    );
  return <Way {...props} otherWay={otherWay} />;
}

function ByHand(props: WayProps) {
  const [content, setContent] = useDraft(props.hold.id, "content");
  const [failed, setFailed] = useState(false);
  return (
    <Give {...props} note={t("perform.note")} content={content === "" ? null : content} missing={t("fill.missing")} failed={failed}>
      <label class="field">
        <span>{t("perform.content")}</span>
        <textarea name="content" rows={3} value={content} onInput={(event) => setContent(event.currentTarget.value)} />
      </label>
      <label class="choice">
        <input type="checkbox" name="is_error" checked={failed} onChange={(event) => setFailed(event.currentTarget.checked)} />
        <span>{t("perform.error")}</span>
      </label>
    </Give>
  );
}
