// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ApprovalFlags } from "../ask.ts";
import { collectNamed } from "../commands/flags.ts";

/** Which machines a command is for, and as whom: talosctl's own flags. */
export interface TargetFlags {
  readonly talosconfig?: string;
  readonly context?: string;
  readonly endpoints: readonly string[];
  /** What `-e` says: an environment, or endpoints. */
  readonly environment: readonly string[];
  readonly nodes: readonly string[];
  readonly insecure: boolean;
  readonly certFingerprint: readonly string[];
}

/** Of a command that reports what it did to each machine. */
export interface ReportedFlags extends TargetFlags {
  readonly json: boolean;
}

export interface ApplyFlags extends ReportedFlags {
  readonly file: string;
  readonly mode: "auto" | "no-reboot" | "reboot" | "staged" | "try";
  readonly dryRun: boolean;
}

export interface RebootFlags extends ReportedFlags {
  readonly wait: boolean;
}

export interface ResetFlags extends ReportedFlags, ApprovalFlags {
  readonly graceful: boolean;
  readonly reboot: boolean;
  readonly systemLabelsToWipe: readonly string[];
}

export interface GetFlags extends ReportedFlags {
  readonly namespace?: string;
  readonly output: "table" | "yaml" | "json";
  readonly watch: boolean;
}

/** Adds --talosconfig and --context. */
export function addTalosconfigFlags(command: Command): Command {
  return command
    .option("--talosconfig <path>", "talosconfig file (default: as talosctl finds it)")
    .option("--context <name>", "context of the talosconfig to use instead of the current one");
}

export interface LogFlags extends ReportedFlags {
  readonly follow: boolean;
}

/** Adds -e, -n, --endpoints, --talosconfig and --context; with `maintenance` also --insecure and --cert-fingerprint. */
export function addTargetFlags(command: Command, { maintenance = false } = {}): Command {
  addTalosconfigFlags(command)
    .option(
      "-e, --environment <name>",
      "environment whose talosconfig and machine names are used; or addresses, as --endpoints",
      collectNamed,
      [],
    )
    .option("--endpoints <addresses>", "control planes to connect to instead of the context's", collectNamed, [])
    .option(
      "-n, --nodes <machines>",
      "machines that the command is for: addresses, with -e also names",
      collectNamed,
      [],
    );
  if (!maintenance) return command;
  return command
    .option("-i, --insecure", "the machines are in maintenance mode; take whatever certificate they show", false)
    .option("--cert-fingerprint <fingerprint>", "in maintenance mode: take only this certificate", collectNamed, []);
}
