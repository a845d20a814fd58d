// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../given.ts";
import type { Contract } from "../../version/index.ts";
import { type ConfigDocument, documentTitle, parseConfig } from "../document/config-file.ts";
import { sectionAt, valueAt } from "../document/value.ts";
import { tooNew } from "./availability.ts";
import { conflict } from "./conflicts.ts";
import { containerChecks } from "./container-documents.ts";
import { type Checks, listOfErrors, sortFindings } from "./findings.ts";
import { kubernetesChecks } from "./kubernetes-documents.ts";
import { networkChecks } from "./network-documents.ts";
import { storageChecks } from "./storage-documents.ts";
import { systemChecks } from "./system-documents.ts";
import { type Mode, type Provided, v1alpha1Findings } from "./v1alpha1-machine.ts";
import { wholeConfigFaults } from "./whole-config.ts";

export interface ValidateOptions {
  readonly mode: Mode;
  /** Warnings of the v1alpha1 document count as errors. @default false */
  readonly strict?: boolean;
  /** The machine is installed already, so that install instructions are not needed. @default false */
  readonly installed?: boolean;
  /** Refuse what machines of this contract do not know yet. @default everything that we know is allowed */
  readonly contract?: Contract;
}

export interface ValidationResult {
  readonly warnings: readonly string[];
  /** All errors in Talos's own list form; undefined when the config is valid. */
  readonly error: string | undefined;
}

const checks: Checks = {
  ...networkChecks,
  ...storageChecks,
  ...systemChecks,
  ...kubernetesChecks,
  ...containerChecks,
};

/** Checks a machine config. Throws `invalid-input` when it cannot be read at all; otherwise tells everything at once. */
export function validateConfig(text: string, fileName: string, options: ValidateOptions): ValidationResult {
  return validateDocuments(parseConfig(text, fileName), options);
}

function validateDocuments(documents: readonly ConfigDocument[], options: ValidateOptions): ValidationResult {
  const v1alpha1 = documents.find(({ kind }) => kind === "v1alpha1")?.section;
  const errors: string[] = [];
  const warnings: string[] = [];
  if (v1alpha1 !== undefined) {
    const findings = sortFindings(v1alpha1Findings(v1alpha1, options.mode, providedBy(documents, options)));
    if (options.strict) findings.errors.push(...findings.warnings.map((warning) => `warning: ${warning}`));
    else warnings.push(...findings.warnings);
    if (findings.errors.length > 0) errors.push(`v1alpha1.Config: ${listOfErrors(findings.errors)}`);
  }
  for (const document of documents) {
    const findings = sortFindings(checks[document.kind]?.(document.section) ?? []);
    warnings.push(...findings.warnings);
    if (findings.errors.length > 0) errors.push(`${documentTitle(document)}: ${findings.errors.join("\n")}`);
  }
  if (v1alpha1 !== undefined) errors.push(...documents.map((document) => conflict(document, v1alpha1)).filter(isGiven));
  errors.push(...wholeConfigFaults(documents));
  if (options.contract !== undefined) errors.push(...tooNew(documents, options.contract));
  return { warnings, error: errors.length === 0 ? undefined : listOfErrors(errors).trimEnd() };
}

function providedBy(documents: readonly ConfigDocument[], options: ValidateOptions): Provided {
  const has = (kind: string): boolean => documents.some((document) => document.kind === kind);
  const resolver = documents.find(({ kind }) => kind === "ResolverConfig")?.section;
  const hostDns = sectionAt(resolver, "hostDNS");
  return {
    endpoint: has("KubeClusterConfig"),
    install: has("UnattendedInstallConfig") || options.installed === true,
    hostDns: hostDns && {
      enabled: valueAt(hostDns, "enabled") === true,
      forwarding: valueAt(hostDns, "forwardKubeDNSToHost") === true,
    },
  };
}
