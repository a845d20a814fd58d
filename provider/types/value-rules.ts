// SPDX-License-Identifier: Apache-2.0

import {
  type AttributePath,
  attribute,
  DiagnosticError,
  type Diagnostics,
  type Finding,
  isUnknown,
  path,
  type Unknown,
  type Validator,
} from "../framework/index.ts";
import { checkInto } from "./translate-error.ts";

/** Whether the configuration has a value here. One that is not known yet may turn out to be null. */
export function isGiven(value: unknown): boolean {
  return value !== null && !isUnknown(value);
}

/** What to do where `on_destroy` is `prevent`. */
export const liftProtection =
  "To lift the protection, set on_destroy to another value (deletionProtection: false in an environment file) and apply that first.";

export function unknownValue(found: unknown, expected: string, path: AttributePath): Finding {
  return { summary: "Unknown value", detail: `Found ${JSON.stringify(found)}; expected ${expected}.`, path };
}

/** What a user has typed to import something is not what names it. */
export function notImportable(summary: string, id: string, expected: string): DiagnosticError {
  return new DiagnosticError({ summary, detail: `Found ${JSON.stringify(id)}; expected ${expected}` });
}

/** One of these words and no other. */
export const oneOf =
  (...allowed: readonly string[]): Validator<string> =>
  (value, path, diagnostics) => {
    if (allowed.includes(value)) return;
    diagnostics.error(unknownValue(value, allowed.map((item) => JSON.stringify(item)).join(" or "), path));
  };

/** Text of this form, which `expected` says in words. */
export const shape =
  (form: RegExp, expected: string): Validator<string> =>
  (value, path, diagnostics) => {
    if (!form.test(value)) diagnostics.error(unknownValue(value, expected, path));
  };

/** For those who can do nothing without a machine to ask. */
export const someEndpoint: Validator<readonly string[]> = (value, path, diagnostics) => {
  if (value.length > 0) return;
  diagnostics.error({
    summary: "No endpoint",
    detail: "Found an empty list; expected the address of one control plane at least.",
    path,
  });
};

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
  checkInto(diagnostics)(path("talos_version"), () => TalosVersion.parse(release));
}

/** The attributes `role` and `address` of those who are told of a machine. */
export const machineRole = attribute.required.string("`controlplane` or `worker`.", {
  validators: [oneOf("controlplane", "worker")],
});
export const machineAddress = attribute.required.string("Where the machine's Talos API answers.");

/** The attribute `endpoints` of those who ask a control plane. */
export const controlPlaneAddresses = attribute.required.stringList("Addresses of the control planes.", {
  validators: [someEndpoint],
});
