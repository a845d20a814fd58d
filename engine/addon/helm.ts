// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { programPath } from "../../talos/program-path.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The real helm. */
export interface Helm {
  /** What it prints. Errors tell helm's own words, without the secrets. */
  run(
    args: readonly string[],
    options?: { readonly signal?: AbortSignal; readonly secrets?: readonly string[] },
  ): Promise<string>;
}

/** Helm on the PATH, or where TALOSMITH_HELM says. Throws with the way to get it, before anything was changed. */
export function findHelm(env: Environment): Helm {
  const program = programPath(env.TALOSMITH_HELM || "helm", env.PATH);
  if (program === undefined) {
    throw new TalosError("failed-precondition", "add-ons need helm, which is not on the PATH", {
      hint: "Install Helm 3 (https://helm.sh/docs/intro/install), then run this again. Nothing was changed.",
    });
  }
  return { run: (args, options = {}) => runHelm(program, args, env, options) };
}

function runHelm(
  program: string,
  args: readonly string[],
  env: Environment,
  { signal, secrets = [] }: { readonly signal?: AbortSignal; readonly secrets?: readonly string[] },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...env }, maxBuffer: 64 * 1024 * 1024, ...given({ signal }) };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (signal?.aborted) reject(new TalosError("canceled", "stopped before helm was done"));
      else reject(helmError(args[0] ?? "", stderr || error.message, secrets));
    });
  });
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
