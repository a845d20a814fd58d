// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../given.ts";
import type { TalosVersion } from "../../version/index.ts";
import { type ConfigDocument, documentTitle } from "../document/config-file.ts";
import type { MachineConfig } from "../machine-config.ts";
import { machineRules, newestRules } from "../rules.ts";
import { tooNew, unknownKinds } from "./availability.ts";
import { conflict } from "./conflicts.ts";
import { containerChecks } from "./container-documents.ts";
import { type Checks, type Finding, type Findings, findingsOf, listOfErrors } from "./findings.ts";
import { kubernetesChecks } from "./kubernetes-documents.ts";
import { kubernetesImageFindings } from "./kubernetes-images.ts";
import { networkChecks } from "./network-documents.ts";
import { storageChecks } from "./storage-documents.ts";
import { systemChecks } from "./system-documents.ts";
import { type Mode, v1alpha1Findings } from "./v1alpha1-machine.ts";
import { wholeConfigFindings } from "./whole-config.ts";

export interface ValidateOptions {
  readonly mode: Mode;
  /**
   * The release that will run the config: its rules count, and what it does not know or cannot run is refused.
   * @default the rules of the newest release known; nothing is too new
   */
  readonly talos?: TalosVersion;
  /** As talosctl does it, which does not look at the versions of Kubernetes. @default false */
  readonly local?: boolean;
  /** Warnings of the v1alpha1 document count as errors. @default false */
  readonly strict?: boolean;
  /** The machine is installed already, so that install instructions are not needed. @default false */
  readonly installed?: boolean;
}

export interface ValidationResult {
  /** Everything at once, errors and warnings, in the order in which Talos tells them. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  /** All errors in the list form of Talos; undefined when the config is valid. */
  readonly error: string | undefined;
}

const checks: Checks = {
  ...networkChecks,
  ...storageChecks,
  ...systemChecks,
  ...kubernetesChecks,
  ...containerChecks,
};

/**
 * Checks a machine config as a machine does before it takes it. Documents that are at hand are not read again. Throws
 * `invalid-input` when the config cannot be read at all.
 */
export function validateConfig(config: MachineConfig, options: ValidateOptions): ValidationResult {
  const { talos, mode } = options;
  const documents = config.decode();
  const rules = talos === undefined ? newestRules : machineRules(talos);
  const v1alpha1 = documents.find(({ kind }) => kind === "v1alpha1");
  const ownFindings = (document: ConfigDocument, told: Findings): readonly Finding[] => [
    ...findingsOf(documentTitle(document), told),
    ...(talos === undefined || options.local === true
      ? []
      : findingsOf(documentTitle(document), kubernetesImageFindings(document, talos))),
  ];
  const installed = options.installed ?? false;
  const main =
    v1alpha1 === undefined ? [] : ownFindings(v1alpha1, v1alpha1Findings(v1alpha1.section, { mode, rules, installed }));
  const strictly = options.strict === true ? withoutWarnings(main) : main;
  const others = documents
    .filter((document) => document !== v1alpha1)
    .map((document) => ownFindings(document, checks[document.kind]?.(document.section, rules) ?? []));
  const whole: readonly Finding[] = [
    ...(v1alpha1 === undefined
      ? []
      : documents.map((document) => conflict(document, v1alpha1.section)).filter(isGiven)),
    ...(rules.judgesV1alpha1Alone ? [] : wholeConfigFindings(documents, mode)),
    ...(talos === undefined ? [] : tooNew(documents, rules.contract)),
    ...unknownKinds(documents, rules),
  ];
  const findings = [...strictly, ...others.flat(), ...whole];
  return {
    findings,
    warnings: findings.filter(({ severity }) => severity === "warning").map(({ message }) => message),
    error: inOneText(strictly, others, whole),
  };
}

/** Warnings become errors, behind the others. */
function withoutWarnings(findings: readonly Finding[]): readonly Finding[] {
  const isError = ({ severity }: Finding): boolean => severity === "error";
  return [
    ...findings.filter(isError),
    ...findings
      .filter((finding) => !isError(finding))
      .map((finding) => ({ ...finding, severity: "error", message: `warning: ${finding.message}` }) as const),
  ];
}

/** As Talos prints it: a list for the v1alpha1 document, lines for each other one, and what concerns several. */
function inOneText(
  main: readonly Finding[],
  others: readonly (readonly Finding[])[],
  whole: readonly Finding[],
): string | undefined {
  const own = errorsOf(main);
  const texts = [
    ...(own.length === 0 ? [] : [`v1alpha1.Config: ${listOfErrors(own)}`]),
    ...others.flatMap((findings) => {
      const errors = errorsOf(findings);
      return errors.length === 0 ? [] : [`${findings[0]?.document}: ${errors.join("\n")}`];
    }),
    ...errorsOf(whole),
  ];
  return texts.length === 0 ? undefined : listOfErrors(texts).trimEnd();
}

function errorsOf(findings: readonly Finding[]): readonly string[] {
  return findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
}
