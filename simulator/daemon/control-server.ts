// SPDX-License-Identifier: Apache-2.0
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TalosError } from "../../talos/errors.ts";
import type { ErrorBody, RequestName, Requests } from "../control/protocol.ts";
import type { Simulator } from "./simulator.ts";

export interface ControlServerOptions {
  readonly token: string;
  readonly simulator: Simulator;
  readonly ending: Ending;
  /** Resolves when sockets and disk are in step with the world. */
  settle(): Promise<void>;
}

type Answers = { readonly [N in RequestName]: (input: Requests[N]["input"]) => Promise<Requests[N]["output"]> };

/** JSON over HTTP on loopback, for those who know the token from the daemon's directory. */
export async function startControlServer(options: ControlServerOptions): Promise<{ port: number; close(): void }> {
  const answers = answersOf(options);
  const server = createServer((request, response) => {
    serve(options, answers, request, response).catch((error: unknown) => {
      const { code, message, hint } = TalosError.from(error);
      const status = code === "not-found" ? 404 : code === "internal" ? 500 : 400;
      const body: ErrorBody = { code, message, hint };
      reply(response, status, body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

async function serve(
  options: ControlServerOptions,
  answers: Answers,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!authorized(request, options.token))
    return reply(response, 401, { code: "permission-denied", message: "wrong token" });
  options.ending.touch();
  const name = (request.url ?? "/").slice(1);
  const text = await bodyOf(request);
  if (name === "hello") return reply(response, 200, {});
  if (!Object.hasOwn(answers, name)) throw new TalosError("not-found", `the simulator has no request ${name}`);
  const input = (text === "" ? {} : JSON.parse(text)) as never;
  const output = await answers[name as RequestName](input);
  if (name === "shutdown") response.once("finish", () => options.ending.now());
  if (name === "delete-machine") response.once("finish", () => options.ending.ifEmpty());
  reply(response, 200, output);
}

function answersOf({ simulator, settle }: ControlServerOptions): Answers {
  const settled = async <T>(value: T): Promise<T> => {
    await settle();
    return value;
  };
  const done = async (work: () => unknown): Promise<null> => {
    work();
    return settled(null);
  };
  return {
    "create-machine": async (input) => {
      const { id } = await settled(await simulator.createMachine(input));
      const machine = simulator.getMachine(id);
      if (machine === undefined) throw new TalosError("not-found", `${input.name} was removed while it was made`);
      if (machine.problem === undefined) return machine;
      // Whoever asks for a machine wants to talk to it next, and would hear nothing, or somebody else.
      const message = `the simulated machine ${input.name} cannot listen: ${machine.problem}`;
      throw new TalosError("failed-precondition", message, {
        hint: "End that program (ss -ltnp tells which it is), then run the same command again; the machine is kept.",
      });
    },
    "list-machines": async () => simulator.listMachines(),
    "delete-machine": ({ id }) => done(() => simulator.deleteMachine(id)),
    "set-owner": ({ id, owner }) => done(() => simulator.setOwner(id, owner)),
    "set-power": ({ id, on }) => done(() => simulator.setPower(id, on)),
    "set-faults": ({ id, faults }) => done(() => simulator.setFaults(id, faults)),
    "set-user-data": ({ id, userData }) => done(() => simulator.setUserData(id, userData)),
    shutdown: async () => null,
  };
}

function authorized(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(body));
}

/** A daemon without machines has nothing to wait for, apart from the one that is about to be made. */
const emptyTimeout = 30_000;

/** Decides when the daemon ends: told to, by a signal, idle for long, or without machines. */
export class Ending {
  /** Resolves when it is time. `removeAll`: the last machine is gone, nothing is to be kept. */
  readonly reached: Promise<{ readonly removeAll: boolean }>;
  readonly #isEmpty: () => boolean;
  #lastContact = performance.now();
  #resolve: (end: { readonly removeAll: boolean }) => void = () => undefined;

  constructor(idleTimeout: number, isEmpty: () => boolean) {
    this.#isEmpty = isEmpty;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const timer = setInterval(() => {
      const idle = performance.now() - this.#lastContact;
      if (isEmpty() && idle > emptyTimeout) this.#resolve({ removeAll: true });
      else if (idle > idleTimeout) this.#resolve({ removeAll: false });
    }, 1_000);
    timer.unref();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => this.now());
  }

  /** Somebody wants something: the daemon is not idle. */
  touch(): void {
    this.#lastContact = performance.now();
  }

  /** Ends and keeps the machines on disk. */
  now(): void {
    this.#resolve({ removeAll: this.#isEmpty() });
  }

  /** Ends if there is no machine. */
  ifEmpty(): void {
    if (this.#isEmpty()) this.now();
  }
}
