// The secrets of a hold, for somebody who may answer it and asks to see them. They are kept nowhere in the page: what is
// closed is forgotten, and looking again asks again.

import { useState } from "preact/hooks";
import * as api from "../api";
import { t } from "../i18n";
import { Plain, Value } from "../plain";
import type { Hold, Json, Secret } from "../wire";
import { Refusal } from "./refusal";

export function Reveal({ hold }: { hold: Hold }) {
  const [secrets, setSecrets] = useState<Secret[] | null>(null);
  const [problem, setProblem] = useState<api.Refused | null>(null);
  if (!hides(hold.call?.arguments ?? null) && !hides(hold.decision?.fill ?? null)) return null;
  const look = () => {
    setProblem(null);
    api.reveal(hold.id).then(
      (found) => setSecrets(found.secrets),
      (error: unknown) => {
        if (error instanceof api.Refused) setProblem(error);
      },
    );
  };
  return (
    <section class="context" aria-label={t("reveal.title")} data-reveal>
      <p>
        <button type="button" onClick={() => (secrets === null ? look() : setSecrets(null))}>
          {secrets === null ? t("reveal.show") : t("reveal.hide")}
        </button>{" "}
        <small class="muted">{t("reveal.note")}</small>
      </p>
      {secrets === null ? null : (
        <dl class="facts">
          {secrets.map((secret) => (
            <div key={secret.part + secret.at}>
              <dt>
                <Plain text={secret.at === "" ? secret.part : secret.at} />
              </dt>
              <dd>
                <Value value={secret.value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {problem ? <Refusal problem={problem} /> : null}
    </section>
  );
}

/** Whether something of it is not shown: the placeholder, or a reference to what a person gave. */
function hides(value: Json): boolean {
  if (typeof value === "string") return value === "[secret]" || value.startsWith("secret:sec_");
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(hides);
}
