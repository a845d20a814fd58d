// SPDX-License-Identifier: Apache-2.0
import type { ClusterChange, InitialConfig } from "./cluster-change.ts";
import type { Action, Finding, Level } from "./plan.ts";
import { type Review, shortName } from "./review.ts";

const sections: Readonly<Record<Level, string>> = { danger: "Danger", caution: "Caution" };

const verbs: Readonly<Record<Action, string>> = {
  create: "add",
  update: "change",
  replace: "replace",
  delete: "destroy",
  forget: "forget",
};

const actions = Object.keys(verbs) as Action[];

/** The review as GitHub-flavoured markdown for a pull request: danger first, counts last. */
export function renderMarkdown(review: Review): string {
  const parts = [
    `## ${headline(review)}`,
    ...notes(review),
    ...(["danger", "caution"] as const).flatMap((level) => renderFindings(review, level)),
    ...review.clusters.flatMap(renderCluster),
    ...renderAttributes(review),
    ...renderResources(review),
  ];
  return `${parts.join("\n\n")}\n`;
}

function headline({ resources, findings }: Review): string {
  const counts = actions
    .map((action) => [resources.filter((resource) => resource.action === action).length, verbs[action]] as const)
    .filter(([count]) => count > 0)
    .map(([count, verb]) => `${count} to ${verb}`);
  if (counts.length === 0) return "Nothing to change";
  const dangers = findings.filter(({ level }) => level === "danger").length;
  const warning = dangers === 0 ? [] : [counted(dangers, "danger")];
  return [...warning, counts.join(", ")].join(" · ");
}

function notes({ basis, complete, errored, drifted }: Review): string[] {
  const found: string[] = [];
  if (basis === "stack")
    found.push("What a first apply makes, read from the generated stack: nothing was compared with what there is.");
  if (errored) found.push("**The plan ended with an error: this is only a part of it.**");
  else if (!complete) found.push("The plan is partial: more will be planned after it is applied.");
  if (drifted.length > 0) found.push(`Changed since the last apply of Terraform: ${codes(drifted)}.`);
  return found;
}

function renderFindings({ findings }: Review, level: Level): string[] {
  const chosen = findings.filter((finding) => finding.level === level);
  return chosen.length === 0 ? [] : [`### ${sections[level]}`, chosen.map(renderFinding).join("\n")];
}

const renderFinding = ({ title, address, sentence }: Finding) => `- **${title}** ${code(address)}: ${plain(sentence)}`;

function renderCluster(cluster: ClusterChange): string[] {
  const { name, before, after, steps, configChanges } = cluster;
  const versions = (["talos_version", "kubernetes_version"] as const).flatMap((attribute) => {
    const [from, to] = [before?.[attribute], after?.[attribute]];
    const product = attribute === "talos_version" ? "Talos" : "Kubernetes";
    return from && to && from !== to ? [`${product} ${code(from)} → ${code(to)}`] : [];
  });
  const diffs = sameTogether(configChanges).flatMap(([machines, lines]) => [`# ${machines.join(", ")}`, ...lines]);
  const lines = [`### Cluster ${code(name)}`, ...renderExtent(cluster)];
  if (versions.length > 0) lines.push(versions.join(" · "));
  lines.push(...renderSteps(after === undefined, steps));
  if (diffs.length > 0) lines.push("Changes of machine configs, secrets replaced:", fence(diffs, "text"));
  return lines;
}

/** Machines that get the same changes, named once. */
export function sameTogether(
  changes: ClusterChange["configChanges"],
): readonly (readonly [machines: readonly string[], lines: readonly string[]])[] {
  const groups = new Map<string, readonly [string[], readonly string[]]>();
  for (const [machine, lines] of Object.entries(changes)) {
    const key = JSON.stringify(lines);
    const [machines] = groups.get(key) ?? [[]];
    groups.set(key, [[...machines, machine], lines]);
  }
  return [...groups.values()];
}

const initialConfigs: Readonly<Record<InitialConfig, string>> = {
  fingerprint: "to pinned fingerprints only",
  "user-data": "by user-data",
  "first-use": "by trust on first use",
};

/** What a cluster that comes or goes consists of. */
function renderExtent({ before, after, machinesBefore, machinesAfter, initialConfig }: ClusterChange): string[] {
  const [values, machines] = after === undefined ? [before, machinesBefore] : [after, machinesAfter];
  if (values === undefined || (before !== undefined && after !== undefined)) return [];
  const controlPlanes = machines.filter(({ controlPlane }) => controlPlane).length;
  const { talos_version: talos, kubernetes_version: kubernetes, endpoint } = values;
  const parts = [
    `${counted(controlPlanes, "control plane")}, ${counted(machines.length - controlPlanes, "worker")}`,
    talos && `Talos ${code(talos)}`,
    kubernetes && `Kubernetes ${code(kubernetes)}`,
    endpoint && `at ${code(endpoint)}`,
    after && `initial config ${initialConfigs[initialConfig]}`,
  ];
  return [parts.filter(Boolean).join(" · ")];
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

function renderSteps(ends: boolean, steps: readonly string[] | undefined): string[] {
  if (ends) return [];
  if (steps === undefined) return ["The steps are known only when the machines are."];
  return steps.length === 0
    ? ["No step on the machines."]
    : ["What the apply will do, in order:", fence(steps, "text")];
}

/** Clusters are left out: theirs are told at length. */
function renderAttributes({ resources }: Review): string[] {
  const lines = resources
    .filter(({ type, attributes }) => type !== "talosmith_cluster" && attributes.length > 0)
    .map(({ address, action, attributes, replacedFor }) => {
      const because = replacedFor.length === 0 ? "" : ` because of ${codes(replacedFor)}`;
      return `- ${verbs[action]} ${code(address)}${because}: ${codes(attributes)}`;
    });
  return lines.length === 0 ? [] : ["### Attributes that change", lines.join("\n")];
}

function renderResources({ resources }: Review): string[] {
  const rows = actions.flatMap((action) => {
    const chosen = resources.filter((resource) => resource.action === action);
    return [...new Set(chosen.map(({ type }) => type))].map((type) => {
      const names = chosen
        .filter((resource) => resource.type === type)
        .map(({ address, type: kind }) => shortName(address, kind));
      return `| ${verbs[action]} | ${code(type)} | ${names.length} | ${codes(names)} |`;
    });
  });
  if (rows.length === 0) return [];
  const table = ["| action | type | count | names |", "|---|---|---|---|", ...rows].join("\n");
  return ["<details><summary>All resources</summary>", table, "</details>"];
}

const codes = (texts: readonly string[]) => texts.map(code).join(", ");

/** Text from outside must not close the span, break the table or call people by their @names. */
function code(text: string): string {
  const safe = text
    .replaceAll(/[\r\n]+/g, " ")
    .replaceAll("`", "'")
    .replaceAll("|", "\\|");
  return `\`${safe}\``;
}

/** Names inside our own sentences. */
function plain(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ").replaceAll(/[\\`*_[\]<>@#|]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** A fence longer than any run of backticks inside, so that no line can end it. */
function fence(lines: readonly string[], language: string): string {
  const text = lines.join("\n");
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const bar = "`".repeat(longest + 1);
  return `${bar}${language}\n${text}\n${bar}`;
}
