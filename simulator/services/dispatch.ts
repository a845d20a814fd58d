// SPDX-License-Identifier: Apache-2.0
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Metadata } from "../../talos/api/gen/common/common.ts";
import type { Fault } from "../control/fault-schema.ts";
import { configOf, hostnameOf, isControlPlane } from "../controllers/membership.ts";
import { switchOff } from "../controllers/power.ts";
import { CallError, type StatusName, statusCodes } from "../machine/call-error.ts";
import { faultOf, hasFault, spend } from "../machine/fault.ts";
import { serverModeOf } from "../machine/listening-ports.ts";
import { type Machine, withMachine } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";
import type { Call, ServedMethod } from "./method.ts";
import { maintenanceRefusal, mayCall } from "./roles.ts";

/** A call as it comes off the wire, or from a test in the same process. */
export interface IncomingCall {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Header values by lower-case name. */
  readonly metadata: ReadonlyMap<string, readonly string[]>;
  /** Roles of the client certificate. */
  readonly roles: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

interface Route {
  readonly simulation: Simulation;
  readonly method: ServedMethod;
  readonly incoming: IncomingCall;
}

type Reply = { readonly metadata?: Metadata | undefined };

/** Methods that take `nodes`: those whose replies can say which node they are from. */
const fanOut = /^\/(machine\.MachineService|cluster\.|inspect\.|storage\.|time\.)/;

/** Serves a call on a machine: routing to other nodes, roles, faults, then the handler. Yields encoded replies. */
export async function* dispatch(
  simulation: Simulation,
  methods: ReadonlyMap<string, ServedMethod>,
  machineId: string,
  incoming: IncomingCall,
  requests: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const method = methods.get(incoming.path);
  if (method === undefined) throw unknownMethod(methods, incoming.path);
  const route: Route = { simulation, method, incoming };
  const messages = decodeAll(method, requests);
  const request = method.requestStream ? messages : await first(messages);
  yield* routed(route, machineId, request);
}

/** What a real machine serves and this one can't. */
const beyond: Readonly<Record<string, string>> = {
  "/machine.MachineService/PacketCapture": "no packets pass through the machine's own network",
  "/machine.DebugService/ContainerRun": "its containers run in name only",
};

function unknownMethod(methods: ReadonlyMap<string, ServedMethod>, path: string): CallError {
  const [, service = "", name = ""] = path.split("/");
  const reason = beyond[path];
  if (reason !== undefined) return new CallError("Unimplemented", `the simulator does not serve ${name}: ${reason}`);
  const known = [...methods.keys()].some((candidate) => candidate.startsWith(`/${service}/`));
  return new CallError(
    "Unimplemented",
    known ? `unknown method ${name} for service ${service}` : `unknown service ${service}`,
  );
}

async function* decodeAll(method: ServedMethod, requests: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  for await (const bytes of requests) {
    try {
      yield method.decode(bytes);
    } catch (cause) {
      throw new CallError("Internal", "grpc: error unmarshalling request", { cause });
    }
  }
}

async function first(messages: AsyncIterable<unknown>): Promise<unknown> {
  for await (const message of messages) return message;
  throw new CallError("Internal", "the call carries no message");
}

/** Chooses who serves: this machine, one other, or several with their answers joined. */
async function* routed(route: Route, machineId: string, request: unknown): AsyncGenerator<Buffer> {
  const { simulation, incoming } = route;
  const here = machineOf(simulation, machineId);
  const nodes = values(incoming, "nodes");
  const node = values(incoming, "node");
  if (serverModeOf(here) !== "secure" || (nodes.length === 0 && node.length === 0)) {
    yield* encoded(route, machineId, request);
    return;
  }
  // A worker can't forward: it serves itself as if nothing had been asked for, and refuses the rest.
  if (!isControlPlane(here)) {
    for (const target of [...nodes, ...node]) targetOf(simulation, here, target);
    yield* encoded(route, machineId, request);
    return;
  }
  if (nodes.length > 0) {
    if (!fanOut.test(incoming.path)) {
      throw new CallError("InvalidArgument", `one-2-many proxying is not supported for method ${incoming.path}`);
    }
    yield* joined(route, here, nodes, request);
    return;
  }
  const [target] = node;
  if (node.length > 1 || target === undefined) {
    throw new CallError("InvalidArgument", "node metadata must be single-valued");
  }
  yield* encoded(route, targetOf(simulation, here, target), request);
}

async function* encoded(route: Route, machineId: string, request: unknown): AsyncGenerator<Buffer> {
  for await (const reply of local(route, machineId, request)) yield route.method.encode(reply);
}

/** Comma-joined or repeated header fields; empty values mean none (talosctl --insecure sends such). */
function values(incoming: IncomingCall, name: string): string[] {
  return (incoming.metadata.get(name) ?? [])
    .flatMap((value) => value.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

/** Finds the machine that the connected one would forward to. */
function targetOf(simulation: Simulation, here: Machine, target: string): string {
  const isHere = target === here.address || target === hostnameOf(here) || target === "127.0.0.1";
  if (isHere) return here.id;
  const config = configOf(here);
  if (config?.type !== "controlplane") throw new CallError("PermissionDenied", "no request forwarding");
  const machines = Object.values(simulation.world.machines);
  const found =
    machines.find((machine) => machine.address === target) ??
    machines.find((machine) => configOf(machine)?.clusterKey === config.clusterKey && hostnameOf(machine) === target);
  const address = found?.address ?? target;
  const refused = found === undefined || hasFault(found, "refuse", simulation.moment.now);
  const mode = found === undefined || refused ? "none" : serverModeOf(found);
  if (found === undefined || mode === "none") {
    const dialing = `transport: Error while dialing: dial tcp ${address}:50000: connect: connection refused`;
    throw new CallError("Unavailable", `connection error: desc = "${dialing}"`);
  }
  if (mode === "maintenance" || configOf(found)?.clusterKey !== config.clusterKey) {
    const handshake =
      "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority";
    throw new CallError("Unavailable", `connection error: desc = "${handshake}"`);
  }
  return found.id;
}

/** Asks every target; a failed one becomes a message that says so. */
async function* joined(
  route: Route,
  here: Machine,
  targets: readonly string[],
  request: unknown,
): AsyncGenerator<Buffer> {
  if (route.method.responseStream) {
    yield* interleave(targets.map((target) => streamOf(route, here, target, request)));
    return;
  }
  // A request stream can be read once, so it goes to one target only.
  const asked = route.method.requestStream ? targets.slice(0, 1) : targets;
  const answers = await Promise.all(asked.map((target) => answerOf(route, here, target, request)));
  // Encoded messages that follow each other are one message with their lists joined.
  yield Buffer.concat(answers);
}

async function answerOf(route: Route, here: Machine, target: string, request: unknown): Promise<Buffer> {
  try {
    const messages: Reply[] = [];
    for await (const reply of local(route, targetOf(route.simulation, here, target), request)) {
      messages.push(...(reply as { messages: Reply[] }).messages);
    }
    return route.method.encode({ messages: messages.map((message) => named(message, target)) });
  } catch (error) {
    return field1(failure(target, error));
  }
}

async function* streamOf(route: Route, here: Machine, target: string, request: unknown): AsyncGenerator<Buffer> {
  try {
    for await (const reply of local(route, targetOf(route.simulation, here, target), request)) {
      yield route.method.encode(named(reply as Reply, target));
    }
  } catch (error) {
    yield failure(target, error);
  }
}

function named(reply: Reply, hostname: string): Reply {
  return { ...reply, metadata: Metadata.fromPartial({ ...reply.metadata, hostname }) };
}

/** A message that has only its metadata, which is field 1 of every reply. */
function failure(hostname: string, cause: unknown): Buffer {
  const error = CallError.from(cause);
  const status = { code: statusCodes[error.status], message: error.message };
  return field1(Buffer.from(Metadata.encode(Metadata.fromPartial({ hostname, error: error.goText, status })).finish()));
}

/** Wraps bytes as the length-delimited field 1. */
function field1(bytes: Buffer): Buffer {
  return Buffer.from(new BinaryWriter().uint32(10).bytes(bytes).finish());
}

/** Messages of several streams in the order in which they come. */
async function* interleave<T>(streams: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const pending = new Map(streams.map((stream) => [stream, stream.next()] as const));
  try {
    while (pending.size > 0) {
      const racing = [...pending].map(async ([stream, next]) => ({ stream, result: await next }));
      const { stream, result } = await Promise.race(racing);
      if (result.done) {
        pending.delete(stream);
      } else {
        pending.set(stream, stream.next());
        yield result.value;
      }
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  }
}

/** Runs the handler on its machine, under that machine's faults. */
async function* local(route: Route, machineId: string, request: unknown): AsyncGenerator<unknown> {
  const { simulation, method, incoming } = route;
  const machine = machineOf(simulation, machineId);
  const mode = serverModeOf(machine);
  const refusal = mode === "maintenance" ? maintenanceRefusal(machine, incoming.path) : undefined;
  if (refusal !== undefined) throw refusal;
  const roles: ReadonlySet<string> = mode === "maintenance" ? new Set(["os:reader"]) : incoming.roles;
  if (!mayCall(incoming.path, roles, mode === "maintenance")) throw new CallError("PermissionDenied", "not authorized");
  await strike(simulation, machineId, incoming, "before");
  const outage = watchOutage(simulation, machine);
  const call: Call = {
    simulation,
    machineId,
    roles,
    signal: AbortSignal.any([incoming.signal, outage.signal]),
    machine: () => machineOf(simulation, machineId),
    world: () => simulation.world,
    change: (edit) => simulation.update((world) => withMachine(world, edit(machineOf(simulation, machineId)))),
  };
  try {
    const result = method.handle(call, request);
    if (method.responseStream) {
      yield* result as AsyncIterable<unknown>;
      if (outage.signal.aborted) throw new CallError("Unavailable", "error reading from server: EOF");
      await strike(simulation, machineId, incoming, "after");
    } else {
      const reply = await result;
      await strike(simulation, machineId, incoming, "after");
      yield reply;
    }
  } finally {
    outage.stop();
  }
}

/** Aborts when the machine goes down: what it was serving, also through another one, breaks off. */
function watchOutage(simulation: Simulation, machine: Machine): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const stop = simulation.subscribe((world) => {
    const current = world.machines[machine.id];
    const up = current !== undefined && current.bootId === machine.bootId && serverModeOf(current) !== "none";
    if (!up) controller.abort();
  });
  return { signal: controller.signal, stop };
}

/** Lets the faults that lie in wait for this call strike. */
async function strike(
  simulation: Simulation,
  machineId: string,
  incoming: IncomingCall,
  when: "before" | "after",
): Promise<void> {
  const machine = machineOf(simulation, machineId);
  const { now } = simulation.moment;
  const name = incoming.path.split("/").at(-1) ?? "";
  const crash = faultOf(
    machine.faults.filter((fault) => fault.kind === "crash" && fault.method === name && fault.when === when),
    "crash",
    now,
  );
  if (crash !== undefined) {
    simulation.update((world) => withMachine(world, switchOff({ ...machine, faults: spend(machine.faults, crash) })));
    throw new CallError("Unavailable", "error reading from server: EOF");
  }
  if (when === "after") return;
  const delay = faultOf(machine.faults, "delay", now);
  if (delay !== undefined) {
    use(simulation, machineId, delay);
    await simulation.sleep(delay.milliseconds, incoming.signal);
  }
  const fail = faultOf(
    machine.faults.filter((fault) => fault.kind === "fail" && (fault.method === name || fault.method === "*")),
    "fail",
    now,
  );
  if (fail === undefined) return;
  use(simulation, machineId, fail);
  throw new CallError(fail.code in statusCodes ? (fail.code as StatusName) : "Unknown", fail.message);
}

function use(simulation: Simulation, machineId: string, fault: Fault): void {
  simulation.update((world) => {
    const machine = world.machines[machineId];
    return machine === undefined ? world : withMachine(world, { ...machine, faults: spend(machine.faults, fault) });
  });
}

function machineOf(simulation: Simulation, machineId: string): Machine {
  const machine = simulation.world.machines[machineId];
  if (machine === undefined) throw new CallError("Unavailable", "the machine is gone");
  return machine;
}
