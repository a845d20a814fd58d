// SPDX-License-Identifier: Apache-2.0
import type { ClusterChange } from "./cluster-change.ts";
import { type InfrastructureChange, infrastructureChanges, isInfrastructureStep } from "./infrastructure.ts";
import { sameTogether } from "./markdown.ts";
import type { Finding } from "./plan.ts";
import type { Review } from "./review.ts";
import { groupSteps } from "./step-groups.ts";

/** Marks parts of the text, as a terminal with colors does. */
export interface Style {
  danger(text: string): string;
  caution(text: string): string;
  title(text: string): string;
}

const plainStyle: Style = { danger: (text) => text, caution: (text) => text, title: (text) => text };

/** So many names are listed; of more, the first and the last. */
const mostNames = 6;

/** A plan for a terminal: dangers first, then what changes, cluster by cluster and machine by machine. Empty without changes. */
export function renderText(review: Review, style: Style = plainStyle): string {
  const parts = [
    review.errored ? ["The plan ended with an error: this is only a part of it."] : [],
    review.findings.map((finding) => findingLine(finding, style)),
    review.drifted.length === 0 ? [] : [`Changed since the last apply of Terraform: ${review.drifted.join(", ")}`],
    infrastructureSection(review, style),
    ...review.clusters.flatMap((cluster) => clusterSections(cluster, style)),
  ].filter((lines) => lines.length > 0);
  return parts.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

/** The line of one danger or caution. */
export function findingLine({ level, title, sentence }: Finding, style: Style = plainStyle): string {
  return level === "danger" ? style.danger(`DANGER ${title}: ${sentence}`) : style.caution(`${title}: ${sentence}`);
}

function section(title: string, lines: readonly string[], style: Style): readonly string[] {
  return lines.length === 0 ? [] : [style.title(title), ...lines.map((line) => `  ${line}`)];
}

/** With the number of its steps: a run counts them and those of the clusters, which are not known of one that ends. */
function infrastructureSection(review: Review, style: Style): readonly string[] {
  const steps = review.resources.filter(isInfrastructureStep).length;
  const isKnown = steps > 0 && review.clusters.every(({ after }) => after !== undefined);
  const title = !isKnown ? "Infrastructure" : `Infrastructure (${steps})`;
  return section(title, infrastructureChanges(review).map(infrastructureLine), style);
}

export function infrastructureLine({ what, names }: Pick<InfrastructureChange, "what" | "names">): string {
  return names.length === 0 ? what : `${what}: ${listed(names)}`;
}

function clusterSections(cluster: ClusterChange, style: Style): readonly (readonly string[])[] {
  const { name, after, steps, configChanges } = cluster;
  if (after === undefined) return [];
  const diffs = sameTogether(configChanges).flatMap(([machines, lines]) => [
    `${listed(machines)}:`,
    ...lines.map((line) => `  ${line}`),
  ]);
  return [
    section(`Cluster ${name}`, versionLines(cluster), style),
    stepSection(cluster, steps, style),
    section("Config changes, secrets masked", diffs, style),
  ];
}

function versionLines({ before, after }: ClusterChange): readonly string[] {
  const products = { Talos: "talos_version", Kubernetes: "kubernetes_version" } as const;
  return Object.entries(products).flatMap(([product, field]) => {
    const [from, to] = [before?.[field], after?.[field]].map((version) => version?.replace(/^v/, ""));
    if (!to || from === to) return [];
    return [from ? `${product} v${from} → v${to}` : `${product} v${to}`];
  });
}

function stepSection(
  { machinesBefore, machinesAfter }: ClusterChange,
  steps: readonly string[] | undefined,
  style: Style,
): readonly string[] {
  if (steps === undefined)
    return [style.title("Steps"), "  Steps are computed during the apply, from what the machines run then."];
  const names = [...machinesBefore, ...machinesAfter].map(({ name }) => name);
  return section(`Steps (${steps.length})`, stepLines(steps, names), style);
}

/** Steps of a procedure that is planned without a review, in the form of a plan. */
export function stepsText(steps: readonly string[], machines: readonly string[], style: Style = plainStyle): string {
  return `${section(`Steps (${steps.length})`, stepLines(steps, machines), style).join("\n")}\n`;
}

/** Steps that are done pass by pass, such as those of rotate-ca: in the form of a plan, the phases of each pass below its title. */
export function passesText(
  passes: readonly { readonly title: string; readonly steps: readonly string[] }[],
  machines: readonly string[],
  style: Style = plainStyle,
): string {
  const count = passes.reduce((sum, { steps }) => sum + steps.length, 0);
  const lines = passes.flatMap(({ title, steps }) => [title, ...stepLines(steps, machines).map((line) => `  ${line}`)]);
  return `${section(`Steps (${count})`, lines, style).join("\n")}\n`;
}

/** Steps by phase and machine, a line for machines that do the same. */
export function stepLines(steps: readonly string[], machines: readonly string[]): readonly string[] {
  let phase = "";
  return groupSteps(steps, machines).flatMap((group) => {
    const isNew = group.phase !== phase;
    phase = group.phase;
    const who = group.machines.length === 0 ? "" : `${listed(group.machines)}: `;
    return [...(isNew ? [group.phase] : []), `  ${who}${group.actions.join(", ")}`];
  });
}

function listed(names: readonly string[]): string {
  if (names.length <= mostNames) return names.join(", ");
  return `${names[0]} … ${names.at(-1)} (${names.length})`;
}
