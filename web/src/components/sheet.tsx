// A sheet above the page. The browser's own dialog keeps the focus inside, and Escape closes it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: ComponentChildren;
  /** Also called for Escape and for a press beside the sheet. */
  close: () => void;
  name: string;
  footer?: ComponentChildren;
  children: ComponentChildren;
}

export function Sheet({ title, close, name, footer, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // Back to where the reader was, if it is still there.
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      data-sheet={name}
      aria-labelledby={`sheet-${name}`}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <div class="sheet-in">
        <header>
          <h2 id={`sheet-${name}`} tabIndex={-1} autofocus>
            {title}
          </h2>
        </header>
        <div class="sheet-body">{children}</div>
        {footer ? <footer>{footer}</footer> : null}
      </div>
    </dialog>
  );
}
