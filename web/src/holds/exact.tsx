// What the decision is about, and apart from it what the model says of it, so that the one cannot pass for the other.

import { Icon } from "../icons";
import { Quoted } from "../foreign";
import { t } from "../i18n";
import type { Hold } from "../wire";
import { Parts } from "./parts";

export function Exact({ hold, stale }: { hold: Hold; stale: boolean }) {
  if (!hold.view?.parts) return null;
  const gates = hold.kind === "approve" && hold.call !== null;
  const title =
    stale ? t("hold.exact.stale")
    : hold.kind === "settle" ? t("hold.exact.settle")
    : !gates ? t("hold.exact.question")
    : hold.state === "pending" ? t("hold.exact")
    : t("hold.exact.past");
  // A question that waits draws its options and fields as controls.
  const controls = hold.state === "pending" && (hold.kind === "choose" || hold.kind === "fill");
  return (
    <section class={stale ? "exact out-of-date" : "exact"} aria-label={title}>
      <h2>{title}</h2>
      <Parts hold={hold} controls={controls} />
    </section>
  );
}

export function Rationale({ hold }: { hold: Hold }) {
  if (!hold.rationale) return null;
  return (
    <section class="rationale" aria-label={t("hold.rationale")}>
      <p class="rationale-head">
        <Icon name="model" />
        <strong>{t("hold.rationale")}</strong>
      </p>
      <Quoted text={hold.rationale} prose />
      <small class="muted">{hold.kind === "approve" && hold.state === "pending" ? t("hold.rationale.note") : t("hold.rationale.note.question")}</small>
    </section>
  );
}
