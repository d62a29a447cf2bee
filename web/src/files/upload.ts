// Sends a file and tells how far it is. `fetch` tells nothing of a body on its way, so this is the one request that goes otherwise.

import * as api from "../api";
import type { UploadedFile } from "../wire";

// The server refuses more; nobody should wait for that.
export const FILE_BYTES_MOST = 20 * 1024 * 1024;

/** Sends it under a key of its own, so that a repeat is the same file. */
export function uploadFile(file: File, key: string, progress: (share: number) => void, stop: AbortSignal): Promise<UploadedFile> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/v1/files?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    for (const [name, value] of Object.entries(api.changeHeaders(key))) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    };
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status === 201) return done(body as UploadedFile);
      if (request.status === 401) api.signedOut();
      fail(new api.Refused(request.status, { status: request.status, title: request.statusText, ...(body as object) }));
    };
    request.onerror = () => fail(new api.Refused(0, { code: "unreachable" }));
    request.onabort = request.onerror;
    stop.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return body !== null && typeof body === "object" ? body : {};
  } catch {
    // A proxy's error page.
    return {};
  }
}
