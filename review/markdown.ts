// SPDX-License-Identifier: Apache-2.0
import type { ClusterChange } from "./cluster-change.ts";
import type { Finding, Level } from "./finding.ts";
import type { Action } from "./plan.ts";
import type { Review } from "./review.ts";

const sections: Readonly<Record<Level, string>> = { danger: "Danger", caution: "Caution" };

const verbs: Readonly<Record<Action, string>> = {
  create: "add",
  update: "change",
  replace: "replace",
  delete: "destroy",
  forget: "forget",
};

/** The review as GitHub-flavoured markdown for a pull request: danger first, counts last. */
export function renderMarkdown(review: Review): string {
  const parts = [
    `## ${headline(review)}`,
    ...notes(review),
    ...(["danger", "caution"] as const).flatMap((level) => renderFindings(review, level)),
    ...review.clusters.flatMap(renderCluster),
    ...renderResources(review),
  ];
  return `${parts.join("\n\n")}\n`;
}

function headline({ addresses, findings }: Review): string {
  const counts = (Object.keys(verbs) as Action[])
    .filter((action) => addresses[action].length > 0)
    .map((action) => `${addresses[action].length} to ${verbs[action]}`);
  if (counts.length === 0) return "Nothing to change";
  const dangers = findings.filter(({ level }) => level === "danger").length;
  const warning = dangers === 0 ? [] : [`${dangers} ${dangers === 1 ? "danger" : "dangers"}`];
  return [...warning, counts.join(", ")].join(" · ");
}

function notes({ complete, errored, drifted }: Review): string[] {
  const found: string[] = [];
  if (errored) found.push("**The plan ended with an error: this is only a part of it.**");
  else if (!complete) found.push("The plan is partial: more will be planned after it is applied.");
  if (drifted.length > 0) found.push(`Changed outside of Terraform: ${drifted.map(code).join(", ")}.`);
  return found;
}

function renderFindings({ findings }: Review, level: Level): string[] {
  const chosen = findings.filter((finding) => finding.level === level);
  return chosen.length === 0 ? [] : [`### ${sections[level]}`, chosen.map(renderFinding).join("\n")];
}

const renderFinding = ({ title, address, sentence }: Finding) => `- **${title}** ${code(address)}: ${plain(sentence)}`;

function renderCluster({ name, before, after, steps, configChanges }: ClusterChange): string[] {
  const versions = (["talos_version", "kubernetes_version"] as const).flatMap((attribute) => {
    const [from, to] = [before?.[attribute], after?.[attribute]];
    const product = attribute === "talos_version" ? "Talos" : "Kubernetes";
    return from && to && from !== to ? [`${product} ${code(from)} → ${code(to)}`] : [];
  });
  const diffs = Object.entries(configChanges).flatMap(([machine, lines]) => [`# ${machine}`, ...lines]);
  return [
    `### Cluster ${code(name)}`,
    ...(versions.length > 0 ? [versions.join(" · ")] : []),
    ...renderSteps(after === undefined, steps),
    ...(diffs.length > 0 ? ["Changes of machine configs, secrets replaced:", fence(diffs, "text")] : []),
  ];
}

function renderSteps(ends: boolean, steps: readonly string[] | undefined): string[] {
  if (ends) return [];
  if (steps === undefined) return ["The steps are known only when the machines are."];
  return steps.length === 0
    ? ["No step on the machines."]
    : ["What the apply will do, in order:", fence(steps, "text")];
}

function renderResources({ addresses }: Review): string[] {
  const rows = (Object.keys(verbs) as Action[])
    .filter((action) => addresses[action].length > 0)
    .map(
      (action) => `| ${verbs[action]} | ${addresses[action].length} | ${addresses[action].map(code).join("<br>")} |`,
    );
  if (rows.length === 0) return [];
  const table = ["| action | count | resources |", "|---|---|---|", ...rows].join("\n");
  return [`<details><summary>All resources</summary>`, table, "</details>"];
}

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
