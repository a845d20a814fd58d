// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";

/** Whether a media query holds, now and when that changes. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setHolds(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return holds;
}
