// SPDX-License-Identifier: Apache-2.0

import { errorTitles, type TalosError } from "../../talos/errors.ts";
import { isGiven } from "../../talos/given.ts";
import type { AttributePath, Diagnostics, Finding } from "../framework/index.ts";

/** The error of the `talos` folders in Terraform's words. Known by its name: its class may come from another file. */
export function translateError(error: unknown): Finding | undefined {
  if (!(error instanceof Error) || error.name !== "TalosError") return undefined;
  const { code, node, hint, message, shown, stack } = error as TalosError;
  // How to go on is told with what has stopped it.
  if (code === "canceled") return { summary: errorTitles[code], detail: message.replace(/^stopped: /, "") };
  const sentences = [
    node !== undefined && !message.includes(node) ? `${node}: ${shown}` : shown,
    hint,
    code === "internal" ? `Please report it with these lines:\n\n${stack ?? ""}` : undefined,
  ];
  return { summary: errorTitles[code], detail: sentences.filter(isGiven).join("\n\n") };
}

/** What went wrong, in the words of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs a check of the `talos` folders; what it throws is a fault of the attribute. */
export function checkInto(diagnostics: Diagnostics) {
  return <T>(where: AttributePath, run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      const finding = translateError(error);
      if (finding === undefined) throw error;
      diagnostics.error({ ...finding, path: where });
      return undefined;
    }
  };
}
