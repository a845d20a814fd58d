// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, execFile } from "node:child_process";
import { TalosError } from "../../talos/errors.ts";
import { programPath } from "../../talos/program-path.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface HelmCall {
  readonly signal?: AbortSignal | undefined;
  /** Words that must not be repeated in an error. */
  readonly secrets?: readonly string[];
  /** Is called with the process's number as soon as it runs. */
  readonly started?: ((pid: number) => void) | undefined;
}

/** The real helm. */
export interface Helm {
  /** What it prints, after it has ended, also when it is stopped. Errors tell helm's own words, without the secrets. */
  run(args: readonly string[], call?: HelmCall): Promise<string>;
}

/** Milliseconds. A helm that is stopped goes back to the revision before; then it is killed, and the next run repairs it. */
export const endsWithin = 30_000;

/** A flag of helm with its value; nothing without one. */
export const flag = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [name, value];

/** Helm on the PATH, or where TALOSMITH_HELM says. Throws with the way to get it, before anything was changed. */
export function findHelm(env: Environment): Helm {
  const program = helmPath(env);
  if (program === undefined) {
    throw new TalosError("failed-precondition", "add-ons need helm, which is not on the PATH", {
      hint: "Install Helm 3 (https://helm.sh/docs/intro/install), then run this again. Nothing was changed.",
    });
  }
  return { run: (args, options = {}) => runHelm(program, args, env, options) };
}

export const hasHelm = (env: Environment): boolean => helmPath(env) !== undefined;

const helmPath = (env: Environment) => programPath(env.TALOSMITH_HELM || "helm", env.PATH);

function runHelm(
  program: string,
  args: readonly string[],
  env: Environment,
  { signal, secrets = [], started }: HelmCall,
): Promise<string> {
  const stopped = () => new TalosError("canceled", "stopped before helm was done");
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped());
    const options = { env: { ...env }, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      unfollow();
      if (error === null) resolve(stdout);
      else if (signal?.aborted) reject(stopped());
      else reject(helmError(args[0] ?? "", stderr || error.message, secrets));
    });
    const unfollow = endWith(signal, child);
    if (child.pid !== undefined) started?.(child.pid);
  });
}

/** Stops a helm with the signal, and leaves it time to end: not as execFile does it, which no longer waits for it then. */
function endWith(signal: AbortSignal | undefined, child: ChildProcess): () => void {
  let patience: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill("SIGTERM");
    patience = setTimeout(() => child.kill("SIGKILL"), endsWithin);
  };
  signal?.addEventListener("abort", stop, { once: true });
  return () => {
    signal?.removeEventListener("abort", stop);
    clearTimeout(patience);
  };
}

const passing =
  /timed out|timeout|connection refused|connection reset|i\/o|EOF|TLS handshake|503|502|no route to host/i;

function helmError(command: string, words: string, secrets: readonly string[]): TalosError {
  const redacted = secrets
    .filter((secret) => secret.length > 3)
    .reduce((text, secret) => text.replaceAll(secret, "(redacted)"), words.trim());
  // Warnings come first; what follows the last "Error:" is the reason.
  const reason = redacted.split(/^Error: /m).at(-1) ?? redacted;
  const said = reason.split("\n").slice(0, 5).join(" ");
  if (/release: not found/.test(said)) return new TalosError("not-found", said);
  if (/another operation .* is in progress/.test(said)) {
    return new TalosError("conflict", said, { hint: "Another helm works on this release. Wait, then run this again." });
  }
  return new TalosError(passing.test(said) ? "unavailable" : "failed-precondition", `helm ${command}: ${said}`);
}
