// SPDX-License-Identifier: Apache-2.0
import type { AttributePath, Diagnostic, PathStep } from "../framework/index.ts";
import type {
  Diagnostic as WireDiagnostic,
  AttributePath as WirePath,
  AttributePath_Step as WireStep,
} from "./gen/tfplugin6.ts";
import { Diagnostic_Severity } from "./gen/tfplugin6.ts";

export function toWireDiagnostics(diagnostics: readonly Diagnostic[]): WireDiagnostic[] {
  return diagnostics.map(({ severity, summary, detail, path }) => {
    const steps = path === undefined || mayHoldSecrets(path) ? undefined : stepsWithLine(path);
    return {
      severity: severity === "error" ? Diagnostic_Severity.ERROR : Diagnostic_Severity.WARNING,
      summary,
      detail:
        path !== undefined && (steps === undefined || path.steps.length > 1) ? `${detail}\n\nAt: ${path}` : detail,
      attribute: steps && { steps: steps.map(toWireStep) },
    };
  });
}

/** Patches may stand in these: terraform would quote the lines of the whole attribute, and the values that they are made of. */
const withPatches: ReadonlySet<string> = new Set(["machines", "scaling_pools", "machine_config", "patches"]);

function mayHoldSecrets({ steps: [first] }: AttributePath): boolean {
  return first?.kind === "attribute" && withPatches.has(first.name);
}

/**
 * Terraform points at the exact line of an attribute in the resource itself or in one of its blocks. With a step more it
 * would point at the head of the resource; what is deeper is said in words.
 */
function stepsWithLine({ steps }: AttributePath): readonly PathStep[] {
  const end = steps.findIndex((step) => step.kind === "attribute" && step.block !== true);
  return end < 0 ? steps : steps.slice(0, end + 1);
}

export function toWirePath({ steps }: AttributePath): WirePath {
  return { steps: steps.map(toWireStep) };
}

function toWireStep(step: PathStep): WireStep {
  switch (step.kind) {
    case "attribute":
      return { selector: { $case: "attributeName", value: step.name } };
    case "key":
      return { selector: { $case: "elementKeyString", value: step.key } };
    case "index":
      return { selector: { $case: "elementKeyInt", value: BigInt(step.index) } };
  }
}
