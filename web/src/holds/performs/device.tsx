// Client tools that the browser itself carries out: read a file, read or fill the clipboard, find out where one is. Each starts with
// a press of the person, and what was read is shown before it goes to the agent. Nothing is read by itself.

import { useState } from "preact/hooks";
import { Button } from "../../components";
import { Quoted } from "../../foreign";
import { t } from "../../i18n";
import { Give, type WayProps } from "./give";
import { textToCopy, wantsRough } from "./which";

// The text of a larger file would not fit into what a model reads, nor on the page that shows it before it goes.
const FILE_BYTES_MOST = 64 * 1024;
const LOCATION_MS_MOST = 20_000;
// Two decimals of a degree are about a kilometre, which names a city and no house.
const ROUGH_DECIMALS = 2;

/** One step that the browser may refuse. */
function useStep(): { busy: boolean; refused: boolean; attempt: (work: () => Promise<void>) => void } {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState(false);
  const attempt = (work: () => Promise<void>) => {
    setBusy(true);
    setRefused(false);
    work()
      .catch(() => setRefused(true))
      .finally(() => setBusy(false));
  };
  return { busy, refused, attempt };
}

function Refused({ refused }: { refused: boolean }) {
  return refused ? (
    <p class="field-error" role="alert" data-step="refused">
      {t("perform.refused")}
    </p>
  ) : null;
}

export function FileWay(props: WayProps) {
  const [file, setFile] = useState<{ content: string; note: string | null } | null>(null);
  const { refused, attempt } = useStep();
  const take = (picked: File | undefined) => {
    if (!picked) return setFile(null);
    attempt(async () => {
      const about = { name: picked.name, media_type: picked.type, bytes: picked.size };
      if (picked.size > FILE_BYTES_MOST) return setFile({ content: JSON.stringify(about), note: t("perform.file.large", { bytes: FILE_BYTES_MOST.toLocaleString() }) });
      const text = textOf(await picked.arrayBuffer());
      setFile(text === null ? { content: JSON.stringify(about), note: t("perform.file.binary") } : { content: JSON.stringify({ ...about, text }, null, 2), note: null });
    });
  };
  return (
    <Give {...props} note={t("perform.file.note")} content={file?.content ?? null} missing={t("perform.missing")} preview>
      <label class="field">
        <span>{t("perform.file")}</span>
        <input type="file" name="file" onChange={(event) => take(event.currentTarget.files?.[0])} />
      </label>
      {file?.note ? <p class="note unread">{file.note}</p> : null}
      <Refused refused={refused} />
    </Give>
  );
}

/** Null if the bytes are no text. */
function textOf(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\u0000") ? null : text;
  } catch {
    return null;
  }
}

export function PasteWay(props: WayProps) {
  const [text, setText] = useState<string | null>(null);
  const { busy, refused, attempt } = useStep();
  return (
    <Give {...props} note={t("perform.paste.note")} content={text} missing={t("perform.missing")}>
      <p>
        <Button disabled={busy} data-perform="paste" onClick={() => attempt(async () => setText(await navigator.clipboard.readText()))}>
          {t("perform.paste")}
        </Button>
      </p>
      {text === null ? null : (
        <label class="field">
          <span>{t("perform.preview")}</span>
          <textarea name="content" rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      <Refused refused={refused} />
    </Give>
  );
}

export function CopyWay(props: WayProps) {
  const text = textToCopy(props.hold) ?? "";
  const [copied, setCopied] = useState(false);
  const { busy, refused, attempt } = useStep();
  return (
    <Give {...props} note={t("perform.copy.note")} content={copied ? "copied" : null} missing={t("perform.missing")}>
      <Quoted text={text} />
      <p>
        <Button
          disabled={busy}
          data-perform="copy"
          onClick={() =>
            attempt(async () => {
              await navigator.clipboard.writeText(text);
              setCopied(true);
            })
          }
        >
          {t("perform.copy")}
        </Button>{" "}
        <span role="status" class="muted">
          {copied ? t("perform.copied") : null}
        </span>
      </p>
      <Refused refused={refused} />
    </Give>
  );
}

export function LocationWay(props: WayProps) {
  const rough = wantsRough(props.hold);
  const [place, setPlace] = useState<string | null>(null);
  const { busy, refused, attempt } = useStep();
  const find = async () => {
    const { coords } = await new Promise<GeolocationPosition>((done, fail) => navigator.geolocation.getCurrentPosition(done, fail, { enableHighAccuracy: !rough, timeout: LOCATION_MS_MOST }));
    const rounded = (degrees: number) => (rough ? Number(degrees.toFixed(ROUGH_DECIMALS)) : degrees);
    const accuracy = Math.max(Math.round(coords.accuracy), rough ? 1000 : 0);
    setPlace(JSON.stringify({ latitude: rounded(coords.latitude), longitude: rounded(coords.longitude), accuracy_m: accuracy }));
  };
  return (
    <Give {...props} note={t("perform.location.note")} content={place} missing={t("perform.missing")} preview>
      <p>
        <Button disabled={busy} data-perform="location" onClick={() => attempt(find)}>
          {t(busy ? "perform.location.busy" : "perform.location")}
        </Button>{" "}
        {rough ? <span class="muted">{t("perform.location.rough")}</span> : null}
      </p>
      <Refused refused={refused} />
    </Give>
  );
}
