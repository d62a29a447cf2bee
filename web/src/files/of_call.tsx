// Files that the arguments of a call name: each is shown on the card beside the call, and never opened or run.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { t } from "../i18n";
import type { FilePart, Json } from "../wire";
import { FileShown } from "./shown";

// Whole values only: an id in the middle of a sentence is a word of the sentence.
const FILE_ID = /^file_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const FILES_MOST = 10;

/** In the order in which they stand in the arguments. */
export function filesIn(value: Json | undefined): string[] {
  const found = new Set<string>();
  const look = (value: Json | undefined): void => {
    if (typeof value === "string") {
      if (FILE_ID.test(value)) found.add(value);
    } else if (Array.isArray(value)) value.forEach(look);
    else if (value !== null && typeof value === "object") Object.values(value).forEach(look);
  };
  look(value);
  return [...found].slice(0, FILES_MOST);
}

export function FilesOfCall({ value }: { value: Json | undefined }) {
  const ids = filesIn(value);
  if (ids.length === 0) return null;
  return (
    <section class="call-files" aria-label={t("files.of_call")}>
      <h3>{t("files.of_call")}</h3>
      {ids.map((id) => (
        <FileOfCall key={id} id={id} />
      ))}
    </section>
  );
}

/** One file by its id, as it is shown. */
export function FileOfCall({ id }: { id: string }) {
  const [file, setFile] = useState<FilePart | "loading" | "unseen">("loading");
  useEffect(() => {
    let here = true;
    api.fileAbout(id).then(
      ({ id: file, media_type: mediaType, ...rest }) => here && setFile({ type: "file", file, mediaType, ...rest }),
      () => here && setFile("unseen"),
    );
    return () => {
      here = false;
    };
  }, [id]);
  if (file === "loading") return <p class="muted">{t("app.loading")}</p>;
  if (file === "unseen") {
    return (
      <p class="refusal" data-unseen={id}>
        {t("files.unseen")} <code>{id}</code>
      </p>
    );
  }
  return <FileShown file={file} digest />;
}
