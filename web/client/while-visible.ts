// SPDX-License-Identifier: Apache-2.0

/**
 * Keeps a stream open while the tab is seen, and gives a function that ends that. A browser has six connections to a
 * server for all its tabs: streams of those in the background would leave none to the one in front.
 */
export function whileVisible(open: () => EventSource): () => void {
  let source: EventSource | undefined;
  const follow = () => {
    if (document.visibilityState === "visible") source ??= open();
    else close();
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  document.addEventListener("visibilitychange", follow);
  follow();
  return () => {
    document.removeEventListener("visibilitychange", follow);
    close();
  };
}
