// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import type { ClusterView, TopologyMap } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { linkTo } from "../route.ts";
import { useAnswer } from "../server.ts";

/** The picture, in which each machine that was seen leads to its own screen. */
export function TopologyScreen({ cluster }: { readonly cluster: ClusterView }) {
  const { environment, seenAt, machines } = cluster;
  const path = `/api/environments/${encodeURIComponent(environment)}`;
  const form = useMedia("(max-width: 44rem)") ? "narrow" : "wide";
  const [map, fault, from = ""] = useAnswer<TopologyMap>(`${path}/topology.json?form=${form}`, seenAt);
  if (fault !== undefined) return html`<p class="fault" role="alert">${fault}</p>`;
  if (map === undefined) return html`<p class="hint" aria-busy="true">Drawing …</p>`;
  const { width, height, revision } = map;
  const picture = `${from.replace("/topology.json?", "/topology.svg?")}&revision=${revision}`;
  const healthOf = (name: string) => machines.find((machine) => machine.name === name)?.health;
  return html`<svg class="topology" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="group" aria-label=${`Topology of ${cluster.cluster}; the screen "machines" tells the same in words`}>
      <image href=${picture} width=${width} height=${height} />
      ${map.machines.map(({ name, ...box }) => {
        const health = healthOf(name);
        if (health === undefined) return null;
        const href = linkTo({ screen: "machine", environment, machine: name });
        return html`<a key=${name} href=${href} aria-label=${`${name}, ${health}`}><rect ...${box} rx="4" /></a>`;
      })}
    </svg>`;
}

/** Whether a media query holds, now and when that changes. */
function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setHolds(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return holds;
}
