// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { Contract } from "../../version/index.ts";
import type { MachineType } from "../cluster-config.ts";
import type { MachineConfig } from "../machine-config.ts";
import { kindType } from "../schema/schema.ts";
import { migratePatch } from "./migrate-patch.ts";
import { patchNodes } from "./nodes.ts";

/**
 * How a contract has what these patches set below a path of the v1alpha1 document, in sentences:
 * `Write machine.kubelet.extraArgs as KubeletConfig.extraArgs.` `config` is the one that the patches are in.
 */
export function writtenAs(
  patches: readonly string[],
  path: string,
  config: MachineConfig,
  { role, contract }: { readonly role: MachineType; readonly contract: Contract },
): readonly string[] {
  const documents = config.decode();
  const target = { contract, base: { controlplane: documents, worker: documents } };
  const isBelow = (other: string) => other === path || other.startsWith(`${path}.`);
  return patches.flatMap((patch) => {
    const { moved, left } = migrated(patch, role, target);
    return [
      ...moved
        .filter((part) => isBelow(part.path))
        .map((part) =>
          part.to.length === 0 ? `Leave ${part.path} out.` : `Write ${part.path} as ${part.to.join(", ")}.`,
        ),
      ...left.filter((part) => isBelow(part.path)).map((part) => `${part.path}: ${part.reason}.`),
    ];
  });
}

/** A patch that cannot be read is refused elsewhere. */
function migrated(patch: string, role: MachineType, target: Parameters<typeof migratePatch>[2]) {
  try {
    return migratePatch(patchNodes(patch), [role], target);
  } catch (error) {
    if (error instanceof TalosError) return { moved: [], left: [] };
    throw error;
  }
}

/** The oldest contract whose configs have documents of the kind; undefined where the kind is not known. */
export function contractOfKind(kind: string): Contract | undefined {
  const since = kindType(kind)?.since;
  return since === undefined ? undefined : Contract.find(`v1.${since}`);
}
