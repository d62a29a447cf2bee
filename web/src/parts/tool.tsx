// A tool call in a session: its state, the hold that stops it, and what the model got for it.

import { EmbeddedHold } from "../holds/embedded";
import { Icon, type IconName } from "../icons";
import { t, word } from "../i18n";
import { useLive } from "../live";
import { Plain, Value } from "../plain";
import { idOf, type ToolCallPart, type ToolResultPart, type ToolState } from "../wire";

const ICONS: Record<ToolState, IconName> = {
  "input-streaming": "executing",
  "input-available": "pending",
  "approval-requested": "pending",
  "approval-responded": "answered",
  "output-available": "succeeded",
  "output-error": "failed",
  "output-denied": "denied",
};

// Longer results are folded; they are the model's reading, and one click away.
const LINES_OPEN = 20;

export function ToolCall({ part, result }: { part: ToolCallPart; result: ToolResultPart | undefined }) {
  const live = useLive();
  const holdId = part.hold ? idOf(part.hold) : null;
  const hold = holdId === null ? null : live.known(holdId);
  // A two-phase call has its (provisional) result at once; while its hold is open, "done" would be a lie.
  const held = hold !== null && typeof hold !== "string" && hold.state === "pending";
  const twoPhase = hold !== null && typeof hold !== "string" && hold.two_phase === true;
  const state: ToolState = held ? "approval-requested" : part.state;
  return (
    <section class={`tool tool-${state}`} data-call={part.toolCallId} data-tool-state={state}>
      <header class="tool-head">
        <Icon name={ICONS[state] ?? "pending"} />
        <code>
          <Plain text={part.toolName} />
        </code>
        <span class="badge">{word("part.state", state)}</span>
      </header>
      {holdId === null ? (
        part.input !== undefined ? (
          <details class="facts-more">
            <summary>{t("part.input")}</summary>
            <Value value={part.input} />
          </details>
        ) : null
      ) : (
        <EmbeddedHold key={holdId} id={holdId} />
      )}
      {result ? <Result result={result} provisional={twoPhase} /> : null}
    </section>
  );
}

function Result({ result, provisional }: { result: ToolResultPart; provisional: boolean }) {
  const text = typeof result.output === "string" ? result.output : JSON.stringify(result.output ?? null, null, 2);
  const open = !provisional && text.split("\n").length <= LINES_OPEN;
  return (
    <details class={result.isError ? "result result-error" : "result"} open={open}>
      <summary>
        {result.isError ? <Icon name="failed" /> : null}
        {provisional ? t("part.result.provisional") : result.isError ? t("part.result.error") : t("part.result")}
      </summary>
      <Value value={result.output} />
    </details>
  );
}
