// Whether there is room for a list beside what it opens. On a phone they are two pages.

import { useEffect, useState } from "preact/hooks";

const DESK = "(min-width: 60rem)";

export function useDesk(): boolean {
  const [wide, setWide] = useState(() => matchMedia(DESK).matches);
  useEffect(() => {
    const query = matchMedia(DESK);
    const read = () => setWide(query.matches);
    query.addEventListener("change", read);
    read();
    return () => query.removeEventListener("change", read);
  }, []);
  return wide;
}
