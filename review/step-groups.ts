// SPDX-License-Identifier: Apache-2.0
import type { ClusterChange } from "./cluster-change.ts";

/** What one machine, or several that get the same, go through without a pause. */
export interface StepGroup {
  readonly phase: string;
  /** Empty for a step that concerns no single machine. */
  readonly machines: readonly string[];
  /** Without the machine's name. */
  readonly actions: readonly string[];
}

/** Phases by the words of their steps. Of a machine that goes through several at once, the first in this list counts. */
const phases: readonly (readonly [phase: string, words: RegExp])[] = [
  ["Remove machines", /^(?:remove .* from the cluster|wipe the disk|delete Kubernetes node|remove dead etcd member)/],
  ["Upgrade Talos", /^(?:upgrade Talos|install) /],
  ["Upgrade Kubernetes", /^(?:upgrade|roll back) kube|^update kube-proxy|^wait for kube/],
  ["Apply initial configs", /^apply initial config /],
  ["Restore etcd", /^(?:restore etcd|wipe etcd data) /],
  ["Bootstrap etcd", /^bootstrap etcd /],
  ["Change configs", /^(?:apply config|write META) /],
  ["Create machines", /^create machine /],
  ["Pull images", /^pull /],
  ["Restart pods", /^restart /],
  ["Wait for machines", /^wait for /],
];

/** Drains, reboots and checks of their own. */
const otherPhase = "Machines";

interface Run {
  machine: string | undefined;
  readonly sentences: string[];
}

/**
 * The steps of a cluster by phase and machine, in their order. Terraform keeps of a step only its sentence, so the sentence
 * is what is read here: with and without Terraform, a plan looks the same.
 */
export function groupSteps(sentences: readonly string[], machines: readonly string[]): readonly StepGroup[] {
  const names = [...machines].sort((left, right) => right.length - left.length);
  const groups: StepGroup[] = [];
  for (const { machine, sentences: own } of runsOf(sentences, names)) {
    const phase = phases.find(([, words]) => own.some((sentence) => words.test(sentence)))?.[0] ?? otherPhase;
    const actions = own.map((sentence) => withoutName(sentence, machine));
    const last = groups.at(-1);
    if (machine !== undefined && last !== undefined && last.phase === phase && isSame(last.actions, actions))
      groups[groups.length - 1] = { ...last, machines: [...last.machines, machine] };
    else groups.push({ phase, machines: machine === undefined ? [] : [machine], actions });
  }
  return groups;
}

/** The provider numbers the steps of its plans. */
const withoutNumber = (sentence: string) => sentence.replace(/^\d+\. /, "");

/** The sentences of a cluster's steps; undefined while they depend on something that does not exist yet. */
export function stepsOf({ steps }: Pick<ClusterChange, "steps">): readonly string[] | undefined {
  return steps?.map(withoutNumber);
}

/** Whether data is lost for good by a step with this sentence. */
export function losesData(sentence: string): boolean {
  return /^(?:wipe|remove|delete) /.test(sentence);
}

/** Steps of one machine that follow each other. */
function runsOf(sentences: readonly string[], names: readonly string[]): readonly Run[] {
  const runs: Run[] = [];
  for (const numbered of sentences) {
    const sentence = withoutNumber(numbered);
    const machine = names.find((name) => mention(name).test(sentence));
    const last = runs.at(-1);
    if (last !== undefined && machine !== undefined && last.machine === machine) last.sentences.push(sentence);
    else runs.push({ machine, sentences: [sentence] });
  }
  return runs;
}

function withoutName(sentence: string, machine: string | undefined): string {
  return machine === undefined ? sentence : sentence.replace(mention(machine), "");
}

/** A name with the word that leads to it, such as ` on w-1`, but not as a part of `w-11`. */
function mention(name: string): RegExp {
  const plain = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?: (?:on|to|of|away from))? ${plain}(?![\\w.-]*\\w)`);
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
