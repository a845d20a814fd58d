// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { parsePlainJson } from "../../talos/plain-text.ts";
import { undefinedIf } from "../failures.ts";
import { flag, type Helm, type HelmCall } from "./helm.ts";

const release = z.object({
  name: z.string(),
  namespace: z.string(),
  revision: z.coerce.number(),
  /** As helm calls it: deployed, failed, pending-install, … */
  status: z.string(),
  /** Chart and version, such as `cilium-1.19.4`. */
  chart: z.string(),
});
const revision = z.object({ revision: z.number(), status: z.string() });

/** A release as it is in the cluster. */
export type Release = Readonly<z.output<typeof release>>;
export type ReleaseId = Pick<Release, "name" | "namespace">;

/** Releases of the cluster behind a kubeconfig. */
export class Releases {
  readonly #helm: Helm;
  readonly #access: readonly string[];
  readonly #call: HelmCall;

  constructor(helm: Helm, kubeconfig: string, call: HelmCall = {}) {
    this.#helm = helm;
    this.#access = ["--kubeconfig", kubeconfig];
    this.#call = call;
  }

  /** A command that changes a release. */
  run(args: readonly string[], { namespace }: ReleaseId, secrets: readonly string[] = []): Promise<string> {
    return this.#helm.run([...args, ...this.#access, "--namespace", namespace], { ...this.#call, secrets });
  }

  #ask(args: readonly string[], namespace: readonly string[]): Promise<string> {
    return this.#helm.run([...args, ...this.#access, ...namespace], { signal: this.#call.signal });
  }

  /** Undefined when there is no such release. With a label, only when it carries that. */
  async find(id: ReleaseId, label?: string): Promise<Release | undefined> {
    const filter = ["--filter", `^${id.name}$`, ...flag("--selector", label)];
    const text = await this.#ask(["list", "--all", "--output", "json", ...filter], ["--namespace", id.namespace]);
    return parse(z.array(release), text, "list").find(({ name }) => name === id.name);
  }

  /** Of all namespaces; with a label, those that carry it. */
  async all(label?: string): Promise<readonly Release[]> {
    const args = ["list", "--all", "--output", "json", ...flag("--selector", label)];
    const text = await this.#ask(args, ["--all-namespaces"]);
    return parse(z.array(release), text, "list");
  }

  /** Oldest first; empty when there is no such release. */
  async history(id: ReleaseId): Promise<readonly z.output<typeof revision>[]> {
    const asked = this.#ask(["history", id.name, "--output", "json"], ["--namespace", id.namespace]);
    const text = await asked.catch(undefinedIf("not-found"));
    return text === undefined ? [] : parse(z.array(revision), text, "history");
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
