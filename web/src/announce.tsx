// Tells screen readers, politely, what arrived and what settled, and puts the number of waiting holds in the tab's title.

import { useEffect, useRef, useState } from "preact/hooks";
import { titleText } from "./holds/parts";
import { settledText } from "./holds/state";
import { t } from "./i18n";
import { live } from "./live";
import { counted, waitsForMe } from "./who";
import type { HoldState, Me } from "./wire";

export function Announce({ me }: { me: Me }) {
  const [text, setText] = useState("");
  const seen = useRef(new Map<string, HoldState>());
  useEffect(() => {
    // What was there when the page opened is read by the list itself and not announced.
    let first = true;
    const look = () => {
      const said: string[] = [];
      let waiting = 0;
      for (const hold of live.all()) {
        if (waitsForMe(hold, me)) waiting += 1;
        const before = seen.current.get(hold.id);
        if (before === hold.state) continue;
        seen.current.set(hold.id, hold.state);
        if (first) continue;
        if (hold.state === "pending") said.push(t("inbox.new", { title: titleText(hold) }));
        else if (before === "pending") said.push(`${titleText(hold)}: ${settledText(hold, me)}`);
      }
      if (live.listed) first = false;
      document.title = waiting > 0 ? `(${counted(waiting, live)}) ${t("app.name")}` : t("app.name");
      if (said.length > 0) setText(said.join(". "));
    };
    look();
    return live.watch(look);
  }, [me]);
  return (
    <div class="sr" role="status" aria-live="polite">
      {text}
    </div>
  );
}
