// A file as it is shown: what its sender called it, how large, of what kind, and of a picture the picture. Names are words of others.
// What is not a raster picture is never opened here; a browser saves it.

import { useState } from "preact/hooks";
import { Chip } from "../foreign";
import { t } from "../i18n";
import type { FilePart } from "../wire";

export function sizeOf(bytes: number): string {
  const [unit, by] = bytes < 1024 ? (["B", 1] as const) : bytes < 1024 * 1024 ? (["KB", 1024] as const) : (["MB", 1024 * 1024] as const);
  const size = bytes / by;
  return `${size >= 10 || by === 1 ? Math.round(size) : size.toFixed(1)} ${unit}`;
}

export function addressOf(id: string): string {
  return `/v1/files/${encodeURIComponent(id)}`;
}

/** Drawn by the browser from the server's own bytes, which it names as a raster image and as nothing else. */
export function Picture({ id, name, small = false }: { id: string; name: string; small?: boolean }) {
  const [failed, setFailed] = useState(false);
  if (failed) return <p class="muted">{t("files.not_shown")}</p>;
  return <img class={small ? "file-thumb" : "file-picture"} src={addressOf(id)} alt={t("files.picture", { name })} loading="lazy" onError={() => setFailed(true)} />;
}

export function FileShown({ file, digest = false }: { file: FilePart; digest?: boolean }) {
  const isPicture = file.width !== undefined && file.height !== undefined;
  return (
    <figure class="file" data-file={file.file}>
      {isPicture ? (
        <a href={addressOf(file.file)} target="_blank" rel="noopener noreferrer">
          <Picture id={file.file} name={file.name} />
        </a>
      ) : null}
      <figcaption>
        <Chip text={file.name} />
        <span class="muted">
          {file.mediaType}, {sizeOf(file.bytes)}
          {isPicture ? `, ${file.width}×${file.height}` : ""}
        </span>
        {isPicture ? null : (
          <a href={addressOf(file.file)} download="">
            {t("files.save")}
          </a>
        )}
        {digest ? <code class="file-digest">{file.digest}</code> : null}
      </figcaption>
    </figure>
  );
}
