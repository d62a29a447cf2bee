// Tells screen readers, politely, what arrived, what settled and what the page has to say, and puts the number of waiting holds in the
// tab's title. The only region that speaks of decisions.

import { useEffect, useRef, useState } from "preact/hooks";
import { titleText } from "./holds/parts";
import { settledText } from "./holds/state";
import { t } from "./i18n";
import { live } from "./live";
import { whenSpoken } from "./spoken";
import { counted, waitsForMe } from "./who";
import type { HoldState, Me } from "./wire";

export function Announce({ me }: { me: Me }) {
  const [said, setSaid] = useState({ text: "", n: 0 });
  const drawn = useRef(0);
  drawn.current = said.n;
  const seen = useRef(new Map<string, HoldState>());
  // What comes before the last line was drawn is said with it. The same words again are new ones.
  const say = (text: string) => setSaid((now) => ({ text: drawn.current === now.n ? text : `${now.text}. ${text}`, n: now.n + 1 }));
  useEffect(() => whenSpoken(say), []);
  useEffect(() => {
    // What was there when the page opened is read by the list itself and not announced.
    let first = true;
    const look = () => {
      const news: string[] = [];
      let waiting = 0;
      for (const hold of live.all()) {
        if (waitsForMe(hold, me)) waiting += 1;
        const before = seen.current.get(hold.id);
        if (before === hold.state) continue;
        seen.current.set(hold.id, hold.state);
        if (first && before === undefined) continue;
        if (hold.state === "pending") news.push(t("inbox.new", { title: titleText(hold) }));
        else if (before === "pending") news.push(`${hold.tag}: ${titleText(hold)}: ${settledText(hold, me)}`);
      }
      if (live.listed) first = false;
      document.title = waiting > 0 ? `(${counted(waiting, live)}) ${t("app.name")}` : t("app.name");
      if (news.length > 0) say(news.join(". "));
    };
    look();
    return live.watch(look);
  }, [me]);
  return (
    <div class="sr" role="status" aria-live="polite">
      <span key={said.n}>{said.text}</span>
    </div>
  );
}
