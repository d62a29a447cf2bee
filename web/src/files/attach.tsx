// Below the text of a message: its files, and the buttons that add some. Files may also be dropped or pasted.

import { useRef } from "preact/hooks";
import type { Refused } from "../api";
import { Chip, Quoted } from "../foreign";
import { Icon } from "../icons";
import { t } from "../i18n";
import type { Attached, Attachment } from "./attached";
import { Picture, sizeOf } from "./shown";

export function AttachBar({ attached }: { attached: Attached }) {
  const choose = useRef<HTMLInputElement>(null);
  const photo = useRef<HTMLInputElement>(null);
  const chosen = (input: HTMLInputElement) => {
    attached.add(input.files ?? []);
    // The same file can be chosen again.
    input.value = "";
  };
  return (
    <div class="attach">
      {attached.all.length > 0 ? (
        <ul class="attached" aria-label={t("files.attached")}>
          {attached.all.map((one) => (
            <AttachmentChip key={one.key} one={one} attached={attached} />
          ))}
        </ul>
      ) : null}
      <div class="attach-buttons">
        <button type="button" class="quiet" disabled={attached.full} onClick={() => choose.current?.click()}>
          <Icon name="plus" />
          {t("files.attach")}
        </button>
        <button type="button" class="quiet attach-photo" disabled={attached.full} onClick={() => photo.current?.click()}>
          {t("files.photo")}
        </button>
        <input ref={choose} type="file" name="files" multiple hidden aria-label={t("files.attach")} onChange={(event) => chosen(event.currentTarget)} />
        <input ref={photo} type="file" name="photo" accept="image/*" capture="environment" hidden aria-label={t("files.photo")} onChange={(event) => chosen(event.currentTarget)} />
      </div>
    </div>
  );
}

function AttachmentChip({ one, attached }: { one: Attachment; attached: Attached }) {
  const { state } = one;
  return (
    <li class={`attachment attachment-${state.is}`} data-attachment={state.is}>
      {state.is === "there" && state.file.width !== undefined ? <Picture id={state.file.id} name={one.name} small /> : null}
      <span class="attachment-name">
        <Chip text={one.name} />
      </span>
      <small>{sizeOf(one.bytes)}</small>
      {state.is === "sending" ? <progress max={1} value={state.share} aria-label={t("files.sending")} /> : null}
      {state.is === "refused" ? (
        <span class="attachment-why" role="alert">
          <Why why={state.why} />
          {state.why === "too_large" ? null : (
            <button type="button" class="quiet" onClick={() => attached.again(one.key)}>
              {t("app.retry")}
            </button>
          )}
        </span>
      ) : null}
      <button type="button" class="quiet" aria-label={t("files.remove", { name: one.name })} onClick={() => attached.remove(one.key)}>
        <Icon name="denied" />
      </button>
    </li>
  );
}

/** Why a file was not taken. What the server says beside its code may quote the file's name. */
export function Why({ why }: { why: "too_large" | Refused }) {
  if (why === "too_large" || why.code === "too_large") return <>{t("files.too_large")}</>;
  return why.status === 0 ? <>{t("files.unreachable")}</> : <Quoted text={why.message} prose />;
}

/** For the element on which files may be dropped, or into which they may be pasted. */
export function dropHandlers(attached: Attached) {
  return {
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      const files = event.dataTransfer?.files;
      if (files === undefined || files.length === 0) return;
      event.preventDefault();
      attached.add(files);
    },
    onPaste: (event: ClipboardEvent) => {
      const files = event.clipboardData?.files;
      if (files === undefined || files.length === 0) return;
      event.preventDefault();
      attached.add(files);
    },
  };
}
