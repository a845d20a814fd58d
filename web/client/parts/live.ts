// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.ts";
import { whileVisible } from "../server.ts";

const kept = 500;

/** Lines as they come, for as long as the page shows them. */
export function Live({ label, path }: { readonly label: string; readonly path: string }) {
  const [lines, setLines] = useState<readonly string[]>([]);
  const [fault, setFault] = useState<string>();
  const element = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    follows.current = true;
    return whileVisible(() => {
      const source = new EventSource(path);
      // After a break everything comes again from the beginning.
      source.addEventListener("begun", () => {
        setLines([]);
        setFault(undefined);
      });
      source.addEventListener("lines", ({ data }: MessageEvent<string>) => {
        const come = JSON.parse(data) as readonly string[];
        setLines((before) => [...before, ...come].slice(-kept));
      });
      source.addEventListener("broken", ({ data }: MessageEvent<string>) => setFault(data));
      return source;
    });
  }, [path]);
  useEffect(() => {
    if (follows.current) element.current?.scrollTo(0, element.current.scrollHeight);
  }, [lines]);
  // Whoever has scrolled up reads, and is not torn away by the next line.
  const onScroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: { currentTarget: HTMLElement }) => {
    follows.current = scrollHeight - scrollTop - clientHeight < 20;
  };
  return html`
    ${fault !== undefined && html`<p class="fault">${fault}</p>`}
    <pre ref=${element} class="live" onScroll=${onScroll} tabindex="0" role="log" aria-label=${label} aria-live="off">${lines.join("\n")}</pre>
  `;
}
