// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import type { Overview } from "../shared/wire.ts";

/** Turns the token of the printed address into a session, and takes it out of the address bar and the history. */
export async function openSession(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  history.replaceState(null, "", "/");
  await send("/session", { token });
}

/** Calls back with everything that is known, now and whenever it changes. */
export function watchOverview(
  onOverview: (overview: Overview) => void,
  onFault: (fault: string | undefined) => void,
): () => void {
  return whileVisible(() => {
    const source = new EventSource("/api/events");
    source.addEventListener("overview", ({ data }: MessageEvent<string>) => onOverview(JSON.parse(data) as Overview));
    source.addEventListener("open", () => onFault(undefined));
    source.addEventListener("error", () => {
      // A browser goes on trying where nobody answers, and gives up where the answer is a no.
      const refused = source.readyState === EventSource.CLOSED;
      onFault(
        refused
          ? "No session: open the address that talosmith ui printed."
          : "Not connected: is talosmith ui still running?",
      );
    });
    return source;
  });
}

/** Asks the server to do something; throws what it says when it refuses. */
export async function send<T = void>(path: string, body: unknown = {}): Promise<T> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-talosmith": "1" },
    body: JSON.stringify(body),
  });
  return read<T>(response);
}

/**
 * What the server answers, why it does not, and the path of the answer, which is the path before while another one is
 * waited for. Asks again with another path or another `seenAt`.
 */
export function useAnswer<T>(path: string, seenAt: string | null) {
  const [answer, setAnswer] = useState<{ readonly found: T; readonly path: string }>();
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    let current = true;
    const answered = (found: T) => {
      if (!current) return;
      setAnswer({ found, path });
      setFault(undefined);
    };
    fetch(path)
      .then(read<T>)
      .then(answered, (error: Error) => current && setFault(error.message));
    return () => {
      current = false;
    };
  }, [path, seenAt]);
  return [answer?.found, fault, answer?.path] as const;
}

async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  const data: unknown = text === "" ? undefined : JSON.parse(text);
  if (response.ok) return data as T;
  const told = typeof data === "object" && data !== null && "error" in data ? String(data.error) : response.statusText;
  throw new Error(told);
}

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
