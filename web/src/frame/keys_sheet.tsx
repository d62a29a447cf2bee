// Every key of the page.

import { Kbd, Sheet } from "../components";
import { t, type Key } from "../i18n";

const KEYS: [string[], Key][] = [
  [["j", "k"], "keys.move"],
  [["↵"], "keys.open"],
  [["x"], "keys.select"],
  [["⇧x"], "keys.select_alike"],
  [["b"], "keys.review"],
  [["a", "↵"], "keys.approve"],
  [["d"], "keys.deny"],
  [["e"], "keys.edit"],
  [["r"], "keys.reply"],
  [["c"], "keys.comment"],
  [["m"], "keys.claim"],
  [["1–9"], "keys.choose"],
  [["z"], "keys.snooze"],
  [["/"], "keys.search"],
  [["g", "i"], "keys.inbox"],
  [["g", "h"], "keys.history"],
  [["g", "s"], "keys.sessions"],
  [["Esc"], "keys.back"],
  [["v"], "keys.views"],
  [["g", "1–9"], "keys.view"],
  [["?"], "keys.help"],
  [["Ctrl", "↵"], "keys.send"],
];

export function KeysSheet({ close }: { close: () => void }) {
  return (
    <Sheet name="keys" title={t("keys.title")} close={close}>
      <dl class="keys-list">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
              <span class="sr">{keys.join(" ")}</span>
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">{t("keys.note")}</p>
    </Sheet>
  );
}
