// SPDX-License-Identifier: Apache-2.0
import { basename } from "node:path";
import * as z from "zod";
import { systemTiming, type Timing, type ToldEvent } from "../../engine/index.ts";
import { TalosError, type TalosErrorOptions } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { errorsIn, type ToldError } from "./diagnostic-text.ts";
import { failureText, knownFailureHint, ownFailure, withoutSettingsWarnings } from "./failures.ts";
import { type Finished, type RunOptions, runProgram } from "./run-program.ts";
import { isLockRefusal, lockedError, plannerIn } from "./state-lock.ts";
import { applyReport, type ReportOptions, warningsIn } from "./terraform-output.ts";

export interface TerraformOptions {
  /** The terraform or tofu program. */
  readonly binary: string;
  /** The synthesized stack. We change into it: `-chdir` does not find local plugins. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ctrl-C, or whatever else stops the command. */
  readonly signal: AbortSignal;
  /** @default systemTiming */
  readonly timing?: Pick<Timing, "elapsed" | "sleep">;
}

/** How long a plan of somebody else is waited for, and how often the state is asked for meanwhile. */
const [longestPlan, again] = [300_000, 2000];

const killedHint =
  "Run the same command again: it goes on from here. If nobody killed it, the kernel's log tells whether memory ran out.";

export interface Planned {
  readonly changes: boolean;
  /** Terraform's own words; empty when it warns of nothing. */
  readonly warnings: string;
}

interface PlanOptions {
  /** Gets Terraform's own text. */
  readonly show?: ((text: string) => void) | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets what is waited for. */
  readonly waits: (reason: string) => void;
}

interface ApplyOptions extends Omit<ReportOptions, "isStopped"> {
  /** Gets each resource as a step. */
  readonly events: (event: ToldEvent) => void;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * How a command has failed: by itself; because another run holds the state's lock, so that nothing was changed; or because it
 * was killed, has crashed or was told to leave at once, whatever it was writing.
 */
export type TerraformEnd = "failed" | "locked" | "killed";

export class TerraformError extends TalosError {
  readonly end: TerraformEnd;

  constructor(end: TerraformEnd, message: string, options: TalosErrorOptions = {}) {
    super("failed-precondition", message, options);
    this.end = end;
  }
}

type TerraformOutputs = Readonly<Record<string, unknown>>;

/** terraform or tofu in one stack's directory. Its exit codes and words reach the user as they are. */
export class Terraform {
  readonly #options: TerraformOptions;

  constructor(options: TerraformOptions) {
    this.#options = options;
  }

  /** "terraform" or "tofu". */
  get name(): string {
    return basename(this.#options.binary);
  }

  async init(): Promise<void> {
    await this.#succeed(["init", "-input=false", "-no-color"]);
  }

  /** The backend alone: providers that the state names are not looked for. What init has against it, or undefined. */
  async initBackend(): Promise<TalosError | undefined> {
    // Nothing is in the folder of the configuration itself, so that no registry is asked.
    const command = ["init", "-input=false", "-no-color", "-plugin-dir=."];
    const finished = await this.#run(command);
    return finished.code === 0 ? undefined : this.#failed(command, finished, false);
  }

  /** Saves the plan to `file`. */
  async plan(file: string, args: readonly string[], { show, env, waits }: PlanOptions): Promise<Planned> {
    const command = ["plan", "-input=false", "-detailed-exitcode", `-out=${file}`, ...args];
    const finished = await this.#afterPlans(waits, () => this.#run(command, given({ show }), env));
    if (finished.code !== 0 && finished.code !== 2) throw this.#failed(command, finished, show !== undefined);
    return { changes: finished.code === 2, warnings: warningsIn(finished.stdout) };
  }

  /** What a plan that fails says for programs: its diagnostics, one message of JSON a line. */
  async planReport(args: readonly string[]): Promise<string> {
    return (await this.#run(["plan", "-input=false", "-json", ...args])).stdout;
  }

  /** A saved plan as JSON, with all its values in the clear. */
  async showPlan(file: string): Promise<string> {
    return this.#json(["show", "-json", "-no-color", file]);
  }

  /** Applies a saved plan. Its errors are in what it throws. */
  async apply(planFile: string, { events, env, ...options }: ApplyOptions): Promise<void> {
    const command = ["apply", "-input=false", "-json", planFile];
    let words = "";
    const errors: ToldError[] = [];
    const waits = (message: string) => events({ at: new Date(), type: "waiting", message });
    const onLine = (line: string) => {
      const report = applyReport(line, new Date(), { ...options, isStopped: this.#options.signal.aborted });
      if (report.event !== undefined) events(report.event);
      if (report.error !== undefined) errors.push(report.error);
      if (report.words !== undefined) words += `${report.words}\n`;
    };
    const finished = await this.#afterPlans(waits, async () => {
      words = "";
      errors.length = 0;
      const ended = await this.#run(command, { onLine }, env);
      return { ...ended, stdout: `${words}${failureText(errors)}` };
    });
    if (finished.code !== 0) throw this.#failed(command, finished, false, errors);
  }

  async outputs(): Promise<TerraformOutputs> {
    const text = await this.#json(["output", "-json", "-no-color"]);
    const parsed = z.record(z.string(), z.object({ value: z.unknown() })).parse(JSON.parse(text));
    return Object.fromEntries(Object.entries(parsed).map(([name, { value }]) => [name, value]));
  }

  /** The state wherever it is kept, in the clear. Empty when there is none. */
  async pullState(): Promise<string> {
    return this.#json(["state", "pull", "-no-color"]);
  }

  /** Runs what takes the state's lock, once more while somebody else plans with it: nothing is begun without the lock. */
  async #afterPlans(waits: (reason: string) => void, run: () => Promise<Finished>): Promise<Finished> {
    const { signal, timing = systemTiming } = this.#options;
    const begun = timing.elapsed();
    for (;;) {
      const finished = await run();
      const planner = finished.code === 0 ? undefined : plannerIn(`${finished.stdout}${finished.stderr}`);
      if (planner === undefined || timing.elapsed() - begun > longestPlan) return finished;
      waits(`waiting for ${planner}, which is planning and holds the lock of the state`);
      await timing.sleep(again, signal);
    }
  }

  /** The JSON that is printed, if any: tofu puts warnings about its own settings on stdout, before it. */
  async #json(command: readonly string[]): Promise<string> {
    return /\{.*/s.exec(await this.#succeed(command))?.[0] ?? "";
  }

  async #succeed(command: readonly string[]): Promise<string> {
    const finished = await this.#run(command);
    if (finished.code !== 0) throw this.#failed(command, finished, false);
    return finished.stdout;
  }

  /** What failed is in the message, stdout only where it was not shown already. */
  #failed(command: readonly string[], finished: Finished, shown: boolean, told?: readonly ToldError[]): TalosError {
    const { code, killedBy, stdout, stderr } = finished;
    const words = `${stdout}${stderr}`;
    const locked = lockedError(words, this.name);
    if (locked !== undefined) return new TerraformError("locked", locked.message, { hint: locked.hint });
    const unsaid = withoutSettingsWarnings(shown ? stderr : words).trim();
    const errors = told ?? errorsIn(unsaid);
    const end = this.#endOf(finished);
    const own = end === "failed" ? ownFailure(errors) : undefined;
    if (own !== undefined) return new TerraformError(end, own.message, { hint: own.hint });
    const text = end === "failed" && errors.length > 0 ? failureText(errors) : unsaid;
    const details = text === "" ? "" : `\n\n${text}\n`;
    const how = killedBy === undefined ? `ended with exit code ${code}` : `was killed by ${killedBy}`;
    const hint = killedBy === undefined ? knownFailureHint(words) : killedHint;
    return new TerraformError(end, `${this.name} ${command[0]} ${how}${details}`, { hint });
  }

  #endOf({ code, killedBy, stdout, stderr }: Finished): TerraformEnd {
    if (isLockRefusal(`${stdout}${stderr}`)) return "locked";
    // It ends with 1 by itself, and when it is interrupted twice; any other code is that of a crash or of a wrapper.
    return killedBy !== undefined || code > 1 || this.#options.signal.aborted ? "killed" : "failed";
  }

  #run(
    command: readonly string[],
    streams: Pick<RunOptions, "show" | "onLine"> = {},
    more: Readonly<Record<string, string>> = {},
  ): Promise<Finished> {
    const { binary, directory, signal } = this.#options;
    const env = { ...this.#options.env, TF_IN_AUTOMATION: "1", ...more };
    return runProgram(binary, command, { cwd: directory, env, signal, ...streams });
  }
}
