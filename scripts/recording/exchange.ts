// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, CallOptions, KubernetesClient } from "../../test/simulator/kubernetes-client.ts";
import { normalized, type Recorded } from "./normalize.ts";

/** Bodies that the same scene has got before, by the names of their exchanges. */
export type Earlier = (name: string) => Body;

/** As much of any answer as later requests need. */
export interface Body {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly [field: string]: unknown;
  };
  readonly status?: { readonly phase?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** One request, and how much of its answer is recorded. */
export interface Exchange {
  /** Its own within its scene. */
  readonly name: string;
  /** @default GET */
  readonly method?: string;
  readonly path: string | ((earlier: Earlier) => string);
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly bodyOf?: (earlier: Earlier) => unknown;
  /** Content type of the body. @default application/json */
  readonly type?: string;
  readonly accept?: string;
  readonly anonymous?: true;
  /** The answer is a stream of JSON lines. */
  readonly stream?: true;
  /** The part of the body that is recorded where the request succeeds. @default all of it */
  readonly part?: (body: Body) => unknown;
  /** Only code and reason of a refusal are recorded: its message shows the insides of a program. */
  readonly brief?: true;
  /** Makes the request again, for a minute at most, until this holds. */
  readonly until?: (answer: Answer<Body>) => boolean;
}

/** Exchanges in a namespace of their own, in order; those of a list within it at the same time. */
export interface Scene {
  readonly name: string;
  readonly exchanges: (namespace: string) => readonly (Exchange | readonly Exchange[])[];
}

const prefix = "recorded-";

/** The answers of a scene, by the names of its exchanges. The namespace is made before and deleted afterwards. */
export async function play(client: KubernetesClient, scene: Scene): Promise<Readonly<Record<string, Recorded>>> {
  const namespace = `${prefix}${scene.name}`;
  const bodies = new Map<string, Body>();
  const earlier: Earlier = (name) => {
    const found = bodies.get(name);
    if (found === undefined) throw new Error(`${scene.name}: no answer of ${name} is known yet`);
    return found;
  };
  const made = await client.call("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  if (made.code !== 201) throw new Error(`the namespace ${namespace} was not made: ${JSON.stringify(made.body)}`);
  try {
    const recorded: Record<string, Recorded> = {};
    for (const one of scene.exchanges(namespace)) {
      const together = "path" in one ? [one] : one;
      const answers = await Promise.all(together.map((exchange) => answered(client, exchange, earlier)));
      for (const [index, exchange] of together.entries()) {
        const { name } = exchange;
        const answer = answers[index];
        if (answer === undefined || name in recorded)
          throw new Error(`${scene.name}: two exchanges have the name ${name}`);
        bodies.set(name, answer.body);
        recorded[name] = normalized(answer, partOf(answer, exchange));
      }
    }
    return recorded;
  } finally {
    await client.call("DELETE", `/api/v1/namespaces/${namespace}`);
  }
}

function partOf({ code, body }: Answer<Body>, { part, brief }: Exchange): unknown {
  if (code >= 400) return brief === true ? body.reason : body;
  return part === undefined ? body : part(body);
}

async function answered(client: KubernetesClient, exchange: Exchange, earlier: Earlier): Promise<Answer<Body>> {
  const { method = "GET", path, body, bodyOf, until } = exchange;
  const { type, accept, anonymous, stream } = exchange;
  const options: CallOptions = {
    ...(type && { type }),
    ...(accept && { accept }),
    ...(anonymous && { anonymous }),
    ...(stream && { stream }),
  };
  const deadline = performance.now() + 60_000;
  for (;;) {
    const where = typeof path === "string" ? path : path(earlier);
    const answer = await client.call<Body>(method, where, bodyOf?.(earlier) ?? body, options);
    if (until === undefined || until(answer)) return answer;
    if (performance.now() > deadline)
      throw new Error(`${exchange.name}: the answer never came: ${answer.code} ${JSON.stringify(answer.body)}`);
    await sleep(50);
  }
}
