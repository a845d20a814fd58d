// SPDX-License-Identifier: Apache-2.0

/** What a log shows of a destroy, in its order, with machines unnamed. */
export function destroyProgress(log: string): readonly string[] {
  const steps = log.matchAll(/ \[(\d+\/\d+\+?)\] ✓ (.*?)(?: \(\d+ s\))?$/gm);
  return [...steps].map(([, counter, what = ""]) => `${counter} ${what.replace(/\S+-(?:cp|w)-\d+$/, "a machine")}`);
}

/** The same of so many machines, whatever manages them. */
export function expectedDestroy(machines: number): readonly string[] {
  const each = (what: string) => Array.from({ length: machines }, () => what);
  const steps = ["destroy client files", ...each("wipe the disk of a machine"), ...each("destroy machine a machine")];
  return steps.map((what, index) => `${index + 1}/${steps.length} ${what}`);
}
