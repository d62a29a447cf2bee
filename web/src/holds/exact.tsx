// What the decision is about. The exact text is drawn by the server from the stored bytes and shown verbatim, whole, as text.
// The preview is the tool's; the rationale is the model's, and stands apart so that it cannot pass for either.

import { Icon } from "../icons";
import { t } from "../i18n";
import { Plain, Value } from "../plain";
import type { Hold } from "../wire";

export function ExactText({ hold, stale }: { hold: Hold; stale: boolean }) {
  if (!hold.view?.text) return null;
  const gates = hold.kind === "approve" && hold.call !== null;
  const title =
    stale ? t("hold.exact.stale")
    : hold.kind === "settle" ? t("hold.exact.settle")
    : !gates ? t("hold.exact.question")
    : hold.state === "pending" ? t("hold.exact")
    : t("hold.exact.past");
  return (
    <figure class={stale ? "exact out-of-date" : "exact"}>
      <figcaption>{title}</figcaption>
      <pre class="view" data-testid="view" tabIndex={0} dir="ltr">
        {hold.view.text}
      </pre>
    </figure>
  );
}

export function Preview({ hold }: { hold: Hold }) {
  const preview = hold.preview;
  const warnings = preview?.warnings ?? [];
  if (!preview || (!preview.summary && preview.rows == null && !preview.diff && warnings.length === 0)) return null;
  // "214 rows · 214 rows affected" says it twice.
  const rowsUntold = preview.rows != null && !new RegExp(`(^|\\D)${preview.rows}(\\D|$)`).test(preview.summary ?? "");
  return (
    <div class="preview">
      {preview.summary || preview.rows != null ? (
        <p>
          <strong>{t("hold.preview")}:</strong>{" "}
          <Plain text={[preview.summary ?? "", rowsUntold ? t("hold.preview.rows", { n: preview.rows ?? 0 }) : ""].filter(Boolean).join(" · ")} />
        </p>
      ) : null}
      {warnings.map((warning, at) => (
        <p class="warning" key={at}>
          <Icon name="warning" />
          <span>
            <strong>{t("hold.warning")}:</strong> <Plain text={warning} />
          </span>
        </p>
      ))}
      {preview.diff ? (
        <figure class="exact">
          <figcaption>{t("hold.preview.diff")}</figcaption>
          <pre class="text">
            <Plain text={preview.diff} />
          </pre>
        </figure>
      ) : null}
    </div>
  );
}

export function Rationale({ hold }: { hold: Hold }) {
  if (!hold.rationale) return null;
  return (
    <blockquote class="rationale">
      <p class="rationale-head">
        <Icon name="model" />
        <strong>{t("hold.rationale")}</strong>
      </p>
      <p class="prose">
        <Plain text={hold.rationale} />
      </p>
      <small class="muted">{hold.kind === "approve" && hold.state === "pending" ? t("hold.rationale.note") : t("hold.rationale.note.question")}</small>
    </blockquote>
  );
}

export function Context({ hold }: { hold: Hold }) {
  const entries = Object.entries(hold.context ?? {});
  if (entries.length === 0) return null;
  return (
    <section class="context" aria-label={t("hold.context")}>
      <h3>{t("hold.context")}</h3>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>
              <Plain text={name} />
            </dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
