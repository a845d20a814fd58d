// SPDX-License-Identifier: Apache-2.0
import type { AttributePath, Diagnostic, PathStep } from "../framework/index.ts";
import type {
  Diagnostic as WireDiagnostic,
  AttributePath as WirePath,
  AttributePath_Step as WireStep,
} from "./gen/tfplugin6.ts";
import { Diagnostic_Severity } from "./gen/tfplugin6.ts";

export function toWireDiagnostics(diagnostics: readonly Diagnostic[]): WireDiagnostic[] {
  return diagnostics.map(({ severity, summary, detail, path }) => ({
    severity: severity === "error" ? Diagnostic_Severity.ERROR : Diagnostic_Severity.WARNING,
    summary,
    // Terraform points at the exact line of a top-level attribute only, so a deeper path is said in words.
    detail: path !== undefined && path.steps.length > 1 ? `${detail}\n\nAt: ${path}` : detail,
    attribute: path === undefined ? undefined : { steps: path.steps.slice(0, 1).map(toWireStep) },
  }));
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
