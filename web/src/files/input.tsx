// A field of a form that is answered with a file: what stands in the answer is the id of the upload.

import { useRef, useState } from "preact/hooks";
import * as api from "../api";
import { Chip } from "../foreign";
import { t } from "../i18n";
import type { UploadedFile } from "../wire";
import { Why } from "./attach";
import { Picture, sizeOf } from "./shown";
import { FILE_BYTES_MOST, uploadFile } from "./upload";

interface Props {
  id: string;
  name: string;
  value: string;
  set: (id: string) => void;
  wrong: boolean;
  told: string | undefined;
  required: boolean;
}

export function FileInput({ id, name, value, set, wrong, told, required }: Props) {
  const [share, setShare] = useState<number | null>(null);
  const [problem, setProblem] = useState<"too_large" | api.Refused | null>(null);
  const [file, setFile] = useState<UploadedFile | null>(null);
  const stop = useRef<AbortController | null>(null);
  const choose = (chosen: File | undefined) => {
    stop.current?.abort();
    set("");
    setFile(null);
    setProblem(null);
    if (chosen === undefined) return setShare(null);
    if (chosen.size > FILE_BYTES_MOST) return setProblem("too_large");
    const mine = new AbortController();
    stop.current = mine;
    setShare(0);
    uploadFile(chosen, api.newKey(), setShare, mine.signal).then(
      (sent) => {
        if (mine.signal.aborted) return;
        setShare(null);
        setFile(sent);
        set(sent.id);
      },
      (error: unknown) => {
        if (mine.signal.aborted) return;
        setShare(null);
        setProblem(error instanceof api.Refused ? error : new api.Refused(0, {}));
      },
    );
  };
  return (
    <span class="file-field">
      <input id={id} name={name} type="file" aria-invalid={wrong || problem !== null} aria-describedby={told} aria-required={required} onChange={(event) => choose(event.currentTarget.files?.[0])} />
      {share === null ? null : <progress max={1} value={share} aria-label={t("files.sending")} />}
      {file !== null && value === file.id ? (
        <span class="file-chosen" data-chosen={file.id}>
          {file.width === undefined ? null : <Picture id={file.id} name={file.name} small />}
          <Chip text={file.name} />
          <small>
            {sizeOf(file.bytes)}, {file.media_type}
          </small>
        </span>
      ) : null}
      {problem === null ? null : (
        <span class="field-error" role="alert">
          <Why why={problem} />
        </span>
      )}
    </span>
  );
}
