// SPDX-License-Identifier: Apache-2.0

/** The part of Stryker's JSON report that is counted here. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

export const mutationTableHead = [
  "| target | changes | noticed | survived | score |",
  "|---|---|---|---|---|",
] as const;

/** A target's row. A change that makes the tests hang is noticed; one that no test reaches has survived. */
export function mutationRow(name: string, { files }: MutationReport): string {
  const counts = new Map<string, number>();
  for (const { mutants } of Object.values(files))
    for (const { status } of mutants) counts.set(status, (counts.get(status) ?? 0) + 1);
  const count = (...statuses: readonly string[]) =>
    statuses.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0);
  const [noticed, survived] = [count("Killed", "Timeout"), count("Survived", "NoCoverage")];
  const score = noticed + survived === 0 ? "none" : `${((100 * noticed) / (noticed + survived)).toFixed(1)} %`;
  return `| ${name} | ${noticed + survived} | ${noticed} | ${survived} | ${score} |`;
}
