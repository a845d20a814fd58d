// SPDX-License-Identifier: Apache-2.0
import type { TalosVersion } from "../../version/index.ts";
import type { MachineConfig } from "../machine-config.ts";
import { newDefaults, wordsOf } from "./new-defaults.ts";

/** A machine that goes from one release to another, with its config before and after it. */
export interface UpgradedMachine {
  readonly name: string;
  readonly from: TalosVersion;
  readonly before: MachineConfig;
  readonly after: MachineConfig;
}

/** What sentences of `releaseChanges` have in common. */
export const releaseChangesTitle = "The new Talos release changes a default";

/**
 * What an upgrade changes by itself, because releases read the same config differently: a sentence for each, with the
 * document that decides it for every release. What the config itself changes is not among it.
 */
export function releaseChanges(machines: readonly UpgradedMachine[], to: TalosVersion): readonly string[] {
  return newDefaults.flatMap((one) => {
    const [gained, lost]: [string[], string[]] = [[], []];
    for (const { name, from, before, after } of machines) {
      const documents = after.decode();
      const now = one.isOn(documents, to.contract);
      if (one.isOn(before.decode(), from.contract) === now || one.isOn(documents, from.contract) === now) continue;
      (now ? gained : lost).push(name);
    }
    const words = wordsOf(one);
    const sentence = (names: readonly string[], what: string, next: string) =>
      names.length === 0 ? [] : [`${names.join(", ")}: Talos ${to} ${what}: ${words.effect} ${next}`];
    return [
      ...sentence(gained, "does this by itself", `A patch with ${one.document} decides it for every release.`),
      ...sentence(
        lost,
        "no longer does this by itself",
        `To keep it, add a patch with ${one.document} and ${words.setting}.`,
      ),
    ];
  });
}
