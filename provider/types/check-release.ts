// SPDX-License-Identifier: Apache-2.0
import { type Diagnostics, path, type Unknown } from "../framework/index.ts";
import { translateError } from "./translate-error.ts";

let versions: Promise<typeof import("../../talos/version/index.ts")> | undefined;

/** Refuses a `talos_version` that is no release, where it stands and before anything is made with it. */
export async function checkRelease(
  { talos_version: release }: { readonly talos_version: string | Unknown | null },
  diagnostics: Diagnostics,
): Promise<void> {
  if (typeof release !== "string") return;
  // Asked for once: finding the file again for each of a hundred machines takes longer than the check.
  versions ??= import("../../talos/version/index.ts");
  const { TalosVersion } = await versions;
  try {
    TalosVersion.parse(release);
  } catch (error) {
    const finding = translateError(error);
    if (finding === undefined) throw error;
    diagnostics.error({ ...finding, path: path("talos_version") });
  }
}
