// SPDX-License-Identifier: Apache-2.0

import { execFile } from "node:child_process";
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { parsePlainJson } from "../../talos/plain-text.ts";
import { programPath } from "../../talos/program-path.ts";
import { undefinedIf } from "../failures.ts";

export interface ReleaseId {
  readonly name: string;
  readonly namespace: string;
}

/** A release as it is in the cluster. */
export interface Release extends ReleaseId {
  readonly revision: number;
  /** As helm calls it: deployed, failed, pending-install, … */
  readonly status: string;
  /** Chart and version, such as `cilium-1.19.4`. */
  readonly chart: string;
}

export interface Revision {
  readonly revision: number;
  readonly updated: string;
  readonly status: string;
  readonly chart: string;
  readonly description: string;
}

const releases = z.array(
  z.object({
    name: z.string(),
    namespace: z.string(),
    revision: z.coerce.number(),
    status: z.string(),
    chart: z.string(),
  }),
);
const revisions = z.array(
  z.object({
    revision: z.number(),
    updated: z.string(),
    status: z.string(),
    chart: z.string(),
    description: z.string(),
  }),
);

/** Releases of the cluster behind a kubeconfig. */
export class Releases {
  readonly #helm: Helm;
  readonly #access: readonly string[];
  readonly #signal: AbortSignal | undefined;

  constructor(helm: Helm, kubeconfig: string, signal?: AbortSignal) {
    this.#helm = helm;
    this.#access = ["--kubeconfig", kubeconfig];
    this.#signal = signal;
  }

  run(
    args: readonly string[],
    { namespace }: { readonly namespace?: string } = {},
    secrets: readonly string[] = [],
  ): Promise<string> {
    const all = [...args, ...this.#access, ...flag("--namespace", namespace)];
    return this.#helm.run(all, { secrets, signal: this.#signal });
  }

  /** Undefined when there is no such release. With a label, only when it carries that. */
  async find(id: ReleaseId, label?: string): Promise<Release | undefined> {
    const filter = ["--filter", `^${id.name}$`, ...flag("--selector", label)];
    const text = await this.run(["list", "--all", "--output", "json", ...filter], id);
    return parse(releases, text, "list").find(({ name }) => name === id.name);
  }

  /** Of all namespaces, those that carry the label. */
  async all(label: string): Promise<readonly Release[]> {
    return parse(
      releases,
      await this.run(["list", "--all", "--all-namespaces", "--output", "json", "--selector", label]),
      "list",
    );
  }

  /** Oldest first; empty when there is no such release. */
  async history(id: ReleaseId): Promise<readonly Revision[]> {
    const text = await this.run(["history", id.name, "--output", "json"], id).catch(undefinedIf("not-found"));
    return text === undefined ? [] : parse(revisions, text, "history");
  }
}

function parse<T>(schema: z.ZodType<T>, text: string, command: string): T {
  let data: unknown;
  try {
    data = parsePlainJson(text);
  } catch (cause) {
    throw new TalosError("internal", `helm ${command} printed no JSON`, { cause });
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new TalosError("internal", `helm ${command} printed another form: ${z.prettifyError(parsed.error)}`);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The real helm. */
export interface Helm {
  /** What it prints. Errors tell helm's own words, without the secrets. */
  run(
    args: readonly string[],
    options?: { readonly signal?: AbortSignal | undefined; readonly secrets?: readonly string[] },
  ): Promise<string>;
}

/** A flag of helm with its value; nothing without one. */
export const flag = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [name, value];

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
  { signal, secrets = [] }: { readonly signal?: AbortSignal | undefined; readonly secrets?: readonly string[] },
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
