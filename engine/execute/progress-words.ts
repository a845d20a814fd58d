// SPDX-License-Identifier: Apache-2.0

/** Milliseconds after which a wait takes long, so that what stands behind it is worth a look. */
const patience = 60_000;
/** So many characters of what another program says are shown while it is waited for. */
const longest = 120;

/** What a machine that boots, or a service that starts, lets a caller see. */
const passing =
  /^(?:the connection was (?:refused|cut)|no answer (?:in time|yet|within \S+ s)|no connection could be made|the host is down|there is no route to the (?:host|network)|.*(?:context deadline exceeded|connect: connection refused|connection reset by peer|i\/o timeout))$/;

/** Without it, pods do not start; right after a join it is on its way. */
const podNetwork =
  /(?:container runtime )?network (?:is )?not ready|NetworkPluginNotReady|cni (?:plugin|config) (?:not |un)initialized/;

/** Of the kubelet or containerd. */
const imagePull = /ErrImagePull|ImagePullBackOff|Back-off pulling image|failed to pull (?:and unpack )?image/;

/**
 * The reason of a wait in words that read as progress. What passes by itself, such as a refused connection of a machine that
 * boots, is shown only where the wait takes long; an image that cannot be pulled at once. Errors keep the whole text.
 */
export function progressWords(reason: string, waited: number): string {
  const parts = reason.split("; ").map((part) => inWords(part, waited >= patience));
  return [...new Set(parts)].join("; ");
}

function inWords(reason: string, isLong: boolean): string {
  if (imagePull.test(reason)) return pullWords(reason);
  const { words, cause } = split(reason);
  if (cause === undefined) return words;
  return isLong ? `${words}: ${shortened(cause)}` : words;
}

/** What is waited for, and the text of another program that says why. */
function split(reason: string): { readonly words: string; readonly cause?: string } {
  const [, ready, kubelet] = /^(.*?waiting for the node to become ready): (.*)$/s.exec(reason) ?? [];
  if (ready !== undefined && kubelet !== undefined) {
    if (!podNetwork.test(kubelet)) return { words: ready, cause: kubelet };
    const words = ready.replace("the node to become ready", "the pod network");
    return { words, cause: kubelet.split(/message:|: /).at(-1) ?? kubelet };
  }
  const places = reason.split(": ").filter((place) => !/^rpc error\b/.test(place));
  const cause = places.at(-1) ?? "";
  if (!passing.test(cause)) return { words: reason };
  return { words: awaited(places.slice(0, -1)), cause };
}

/** What does not answer, of the places that an error names from the outside in. */
function awaited(places: readonly string[]): string {
  const named = places.findLastIndex((place) => place.includes(" "));
  const known = places.slice(0, named + 1).join(": ");
  const [machine] = places.slice(named + 1);
  if (known === "") return machine === undefined ? "no answer yet" : `${machine}: no answer yet`;
  // A machine's name before it stays.
  if (known.endsWith("not reachable")) return known.replace("not reachable", "waiting for the machine to answer");
  return known.replace("the Kubernetes API does not answer", "waiting for the Kubernetes API");
}

function pullWords(reason: string): string {
  const [, image] = /image \\?"([^"\\]+)\\?"/.exec(reason) ?? [];
  const [, before = ""] =
    /^(.*?)(?:: )?(?:ErrImagePull|ImagePullBackOff|Back-off pulling|failed to pull)/s.exec(reason) ?? [];
  const last = reason.split(": ").at(-1)?.trim() ?? "";
  const isWhy = !imagePull.test(last) && !last.includes('image "');
  const what = `cannot pull image${image === undefined ? "" : ` ${image}`}${isWhy ? `: ${shortened(last)}` : ""}`;
  return before === "" ? what : `${before}: ${what}`;
}

function shortened(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`;
}
