// SPDX-License-Identifier: Apache-2.0

import { stripVTControlCharacters } from "node:util";
import * as z from "zod";
import type { ToldEvent } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import { diagnosticPlace, type ToldError, unframed, withWholeLines } from "./diagnostic-text.ts";

const resource = z.object({ addr: z.string() });
const message = z.discriminatedUnion("type", [
  z.object({ type: z.literal("apply_start"), hook: z.object({ resource, action: z.string() }) }),
  z.object({
    type: z.literal("apply_progress"),
    hook: z.object({ resource, action: z.string(), elapsed_seconds: z.number() }),
  }),
  z.object({
    type: z.literal("apply_complete"),
    hook: z.object({ resource, action: z.string(), elapsed_seconds: z.number() }),
  }),
  z.object({ type: z.literal("apply_errored"), hook: z.object({ resource, action: z.string() }) }),
  z.object({
    type: z.literal("diagnostic"),
    diagnostic: z.object({
      severity: z.string(),
      summary: z.string(),
      detail: z.string().optional(),
      address: z.string().optional(),
    }),
  }),
]);

const present: Readonly<Record<string, string>> = { create: "creating", update: "changing", delete: "destroying" };
const verbs: Readonly<Record<string, string>> = { update: "change", delete: "destroy" };

/** What a line of `terraform apply -json` says. */
export interface ApplyReport {
  readonly event?: ToldEvent;
  readonly error?: ToldError;
  /** Of a plugin that panics, say: whole, for the error of the command. */
  readonly words?: string;
}

/** What people call a resource, and the machine that it is. */
export interface Subject {
  readonly name: string;
  /** What an apply of it does, where that is not said by what happens to the resource. */
  readonly sentence?: string | undefined;
  readonly machine?: string | undefined;
}

export interface ReportOptions {
  subjectOf(address: string): Subject;
  /** True for resources that report their own steps, and have just done so. */
  isReported(address: string): boolean;
  /** True for warnings, as `eachWarning` has them, that the plan has shown already. */
  isShown(warning: string): boolean;
  readonly isStopped: boolean;
}

/**
 * One line of `terraform apply -json` as progress of a step, whose id is the address of its resource. Of resources that
 * report their own steps (`isReported`), it is not reported that they take time. Of a run that was stopped, terraform's
 * words for that say nothing new.
 */
export function applyReport(line: string, at: Date, options: ReportOptions): ApplyReport {
  const { subjectOf, isReported, isStopped } = options;
  const parsed = message.safeParse(jsonIn(line));
  if (!parsed.success) return isJsonObject(line) || line === "" ? {} : { words: line };
  const { data } = parsed;
  if (data.type === "diagnostic") return diagnosticReport(data.diagnostic, at, options);
  const { resource, action } = data.hook;
  const subject = subjectOf(resource.addr);
  const { name, machine } = subject;
  const sentence = stepSentence(subject, action);
  const event = (type: ToldEvent["type"], text: string): ApplyReport => ({
    event: { at, type, message: text, step: { id: resource.addr }, ...given({ machine }) },
  });
  switch (data.type) {
    case "apply_start":
      return event("step-started", sentence);
    case "apply_progress":
      if (isReported(resource.addr)) return {};
      return event("waiting", `${present[action] ?? action} ${name} (${data.hook.elapsed_seconds} s)`);
    case "apply_complete":
      return event("step-finished", `${sentence}${seconds(data.hook.elapsed_seconds)}`);
    case "apply_errored":
      return isStopped ? {} : event("step-failed", sentence);
  }
}

type Diagnostic = Extract<z.output<typeof message>, { type: "diagnostic" }>["diagnostic"];

function diagnosticReport(diagnostic: Diagnostic, at: Date, { isStopped, isShown }: ReportOptions): ApplyReport {
  const { severity, summary, detail, address } = diagnostic;
  if (isStopped && wordsForStopped.has(summary)) return {};
  const title = `${summary}${address ? ` (${address})` : ""}`;
  if (severity !== "error" && isShown(detail ? `${summary}\n\n${detail.trim()}` : summary)) return {};
  if (severity !== "error") return { event: { at, type: "warning", message: detail ? `${title}: ${detail}` : title } };
  return { error: { summary, ...given({ address }), detail: detail?.trim() ?? "" } };
}

/** What is done to a resource: `create machine w-1`. */
export function stepSentence({ name, sentence }: Subject, action: string): string {
  return sentence ?? `${verbs[action] ?? action} ${name}`;
}

/** The provider's and terraform's own. */
const wordsForStopped: ReadonlySet<string> = new Set(["Stopped", "execution halted"]);

function seconds(elapsed: number): string {
  return elapsed < 1 ? "" : ` (${elapsed} s)`;
}

function isJsonObject(line: string): boolean {
  return typeof jsonIn(line) === "object";
}

/** The warnings of a plan stand below its verdict; above it are those about terraform's own settings. */
const verdict = /^(?:No changes\.|Plan: |Changes to Outputs:)/m;
const title = /^(?:╷\n│ )?Warning: /m;
const notChecked = /^(?:│ )?Warning: .* could not be (?:checked|asked|compared)/m;

/** What `terraform plan` warns of, in its own words without colours; empty when it warns of nothing. */
export function warningsIn(text: string): string {
  const plain = stripVTControlCharacters(text);
  const said = plain.slice(Math.max(0, plain.search(verdict)));
  const start = said.search(title);
  return start < 0 ? "" : `${said.slice(start).trimEnd()}\n`;
}

/** Warnings one by one, without frames and broken lines, and without their places in the generated stack. */
export function eachWarning(warnings: string): readonly string[] {
  const similar = /^\(and (?:one|\d+) more similar warnings? elsewhere\)\n?/gm;
  const { text, width } = unframed(warnings);
  return text
    .replaceAll(diagnosticPlace, "")
    .replaceAll(similar, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .split(/^Warning: /m)
    .map((warning) => withWholeLines(warning.trim(), width))
    .filter((warning) => warning !== "");
}

/** Those of the machines that our provider could not look at; undefined when it has seen all there is. */
export function unseenIn(warnings: string, machines: readonly string[]): readonly string[] | undefined {
  if (!notChecked.test(warnings)) return undefined;
  const lines = warnings.split("\n").map((line) => line.replace(/^│ /, ""));
  return machines.filter((name) => lines.some((line) => line.startsWith(`${name}: `)));
}

const fault = z.object({
  type: z.literal("diagnostic"),
  diagnostic: z.object({ severity: z.literal("error"), address: z.string().optional() }),
});

/** True when `terraform plan -json` failed, and nobody but our clusters had something against the plan. */
export function onlyClustersRefused(report: string): boolean {
  const faults = report.split("\n").flatMap((line) => {
    const parsed = fault.safeParse(jsonIn(line));
    return parsed.success ? [parsed.data.diagnostic] : [];
  });
  return faults.length > 0 && faults.every(({ address = "" }) => /^(?:.*\.)?talosmith_cluster\./.test(address));
}
