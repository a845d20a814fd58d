// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { machineBoxes, type PictureForm, renderSvg, type Topology } from "../../model/topology/index.ts";
import type { TopologyMap } from "../shared/wire.ts";

/** What lies where in the picture, so that a page can lead from a machine in it to the machine's own screen. */
export function topologyMap(topology: Topology, form: PictureForm): TopologyMap {
  const revision = createHash("sha256").update(renderSvg(topology, form)).digest("hex").slice(0, 16);
  return { ...machineBoxes(topology, form), revision };
}
