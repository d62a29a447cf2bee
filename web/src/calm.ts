// The next Approve stands where the last one was, and a card can change under a finger. So keys and presses count only when
// what they would decide has been in view for a moment.

import { useEffect, useState } from "preact/hooks";

// Longer than the second press of a double click, shorter than reading a headline.
const CALM_MS = 600;

/** Whether `shown` (the id, digest and state of what is in view) has stood still for long enough. */
export function useCalm(shown: string): boolean {
  const [calm, setCalm] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(shown), CALM_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return calm === shown;
}
