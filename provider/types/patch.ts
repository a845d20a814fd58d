// SPDX-License-Identifier: Apache-2.0
import { FunctionError, type ProviderFunction, stringType } from "../framework/index.ts";

export const patch: ProviderFunction = {
  name: "patch",
  summary: "A machine config with patches applied",
  description:
    "Applies strategic merge patches or JSON patches to a machine config, one after another, as `talosctl machineconfig patch` does.",
  parameters: [{ name: "config", type: stringType, description: "The machine config, YAML." }],
  variadic: { name: "patches", type: stringType, description: "Patches, YAML or JSON." },
  returns: stringType,
  async call([config, ...patches]) {
    const { applyPatches, parsePatch } = await import("../../talos/config/index.ts");
    const parsed = patches.map((text, index) =>
      orArgument(index + 1, () => parsePatch(String(text), `patch ${index + 1}`)),
    );
    return orArgument(0, () => applyPatches(String(config), parsed, "config"));
  },
};

function orArgument<T>(argument: number, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new FunctionError(error instanceof Error ? error.message : String(error), argument);
  }
}
