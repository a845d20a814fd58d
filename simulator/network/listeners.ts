// SPDX-License-Identifier: Apache-2.0

import type { TlsOptions } from "node:tls";
import { apiServerRuns, clusterOf, configOf } from "../controllers/membership.ts";
import { createKubernetesServer } from "../kubernetes/server.ts";
import { faultOf, hasFault } from "../machine/fault.ts";
import { listeningPorts, serverModeOf } from "../machine/listening-ports.ts";
import { kubernetesCas, osCas } from "../machine/node-config.ts";
import type { Machine, World } from "../machine/world.ts";
import { dispatch } from "../services/dispatch.ts";
import { methods } from "../services/registry.ts";
import type { Simulation } from "../simulation.ts";
import { type Endpoint, listen, type Manners } from "./endpoint.ts";
import { type CallHandler, createGrpcServer } from "./grpc-server.ts";
import {
  apiIdentity,
  type CertificateEpoch,
  certificateEpoch,
  forTls,
  kubernetesIdentity,
  sideIdentity,
} from "./identities.ts";
import { createSideServer, type SideService } from "./side-server.ts";

export const apiPort = 50_000;
export const kubernetesPort = 6_443;

/** How often it is looked whether the certificates are still good, in milliseconds. */
const clockCheck = 5_000;

const sidePorts: ReadonlyMap<number, SideService> = new Map([
  [50_001, "trustd"],
  [2_379, "etcd"],
  [2_380, "etcd"],
  [10_250, "kubelet"],
]);

interface Wanted {
  readonly machineId: string;
  readonly host: string;
  readonly port: number;
  readonly kind: "maintenance" | "secure" | "kubernetes" | SideService;
  /** Half-open: it listens and does not answer. */
  readonly muted: boolean;
  /** Anything in here that changes makes the endpoint start anew. */
  readonly fingerprint: string;
  /** Whom it trusts and is trusted by; a change counts for new connections and cuts none. */
  readonly authorities?: string;
}

interface Open {
  readonly wanted: Wanted;
  readonly endpoint: Endpoint;
}

export interface Listeners {
  /** Why a machine does not listen where it should. */
  problemOf(machineId: string): string | undefined;
  /** Resolves when what listens is what should listen now. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps real sockets in step with the world: who should listen does, who is down does not. */
export function startListeners(
  simulation: Simulation,
  onError: (error: unknown) => void,
  onConnection: () => void = () => undefined,
): Listeners {
  const open = new Map<string, Open>();
  const failures = new Map<string, { readonly machineId: string; readonly reason: string }>();
  const epochNow = () => certificateEpoch(epoch, simulation.moment.now, performance.now());
  let epoch: CertificateEpoch | undefined;
  let work: Promise<void> = Promise.resolve();
  const closing = new Set<Promise<void>>();
  const shut = ({ endpoint, wanted }: Open): void => {
    const stage = simulation.world.machines[wanted.machineId]?.life.stage ?? "off";
    const closed = endpoint.close(stage === "off" || wanted.muted).finally(() => closing.delete(closed));
    closing.add(closed);
  };
  const step = async (): Promise<void> => {
    epoch = epochNow();
    const wanted = new Map(
      wantedEndpoints(simulation, epoch).map((endpoint) => [`${endpoint.host}:${endpoint.port}`, endpoint]),
    );
    for (const [key, current] of open) {
      const next = wanted.get(key);
      if (next?.fingerprint === current.wanted.fingerprint && (next.muted || !current.wanted.muted)) {
        if (next.muted && !current.wanted.muted) current.endpoint.mute();
        if (next.authorities !== current.wanted.authorities) renew(simulation, next, current.endpoint);
        open.set(key, { ...current, wanted: next });
        continue;
      }
      open.delete(key);
      shut(current);
    }
    const missing = [...wanted].filter(([key]) => !open.has(key));
    for (const key of failures.keys()) if (!wanted.has(key)) failures.delete(key);
    // One that cannot listen must not keep the others from it.
    await Promise.all(
      missing.map(async ([key, endpoint]) => {
        try {
          const started = await start(simulation, endpoint, onConnection);
          failures.delete(key);
          if (started !== undefined) open.set(key, { wanted: endpoint, endpoint: started });
        } catch (error) {
          if (!failures.has(key)) onError(error);
          failures.set(key, { machineId: endpoint.machineId, reason: obstacleTo(endpoint, error) });
        }
      }),
    );
  };
  let queued = false;
  const refresh = (): void => {
    // A step looks at the world when it begins, so one that waits will see this change too.
    if (queued) return;
    queued = true;
    work = work
      .then(() => {
        queued = false;
        return step();
      })
      .catch(onError);
  };
  const unsubscribe = simulation.subscribe(refresh);
  // A world at rest says nothing, but certificates grow old, clocks are set and others give their ports back.
  const renewing = setInterval(() => {
    if (epochNow() !== epoch || failures.size > 0) refresh();
  }, clockCheck);
  renewing.unref();
  refresh();
  return {
    problemOf: (machineId) => [...failures.values()].find((failure) => failure.machineId === machineId)?.reason,
    async settled() {
      // Whoever asks may just have given the port back.
      if (failures.size > 0) refresh();
      for (let seen: Promise<void> | undefined; seen !== work; ) {
        seen = work;
        await work;
      }
    },
    async close() {
      unsubscribe();
      clearInterval(renewing);
      await work;
      for (const current of open.values()) shut(current);
      open.clear();
      await Promise.all(closing);
    },
  };
}

function obstacleTo({ host, port }: Wanted, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "EADDRINUSE" ? `another program has port ${port} at ${host}` : `port ${port} at ${host}: ${message}`;
}

function wantedEndpoints(simulation: Simulation, { half, offset }: CertificateEpoch): Wanted[] {
  const { world, moment } = simulation;
  return Object.values(world.machines).flatMap((machine) => {
    if (hasFault(machine, "refuse", moment.now)) return [];
    const troubles = machine.faults.map((fault) => fault.kind).filter((kind) => /certificate|skew/.test(kind));
    const mode = serverModeOf(machine);
    const muted = hasFault(machine, "half-open", moment.now);
    const hosts = [machine.address, ...virtualAddresses(world, machine, moment.now)];
    const identity = `${machine.bootId}/${half}/${offset}/${troubles.join()}`;
    const config = configOf(machine);
    const common = { machineId: machine.id, muted };
    const authorities = config === undefined ? "" : osCas(config).join();
    const secure = { fingerprint: `${machine.id}/${mode}/${identity}`, authorities };
    const api = hosts.flatMap((host): Wanted[] =>
      mode === "none" ? [] : [{ ...common, ...secure, host, port: apiPort, kind: mode }],
    );
    const beside = listeningPorts(machine, moment.now).flatMap(({ port, service }): Wanted[] => {
      const kind = sidePorts.get(port);
      const fingerprint = `${machine.id}/${service}/${machine.bootId}`;
      return kind === undefined ? [] : [{ ...common, host: machine.address, port, kind, fingerprint }];
    });
    if (config === undefined || !apiServerRuns(machine, moment.now)) return [...api, ...beside];
    const fingerprint = `${machine.id}/kubernetes/${machine.staticPodsAt}/${identity}/${kubernetesCas(config).join()}`;
    const server = { ...common, port: kubernetesPort, kind: "kubernetes", fingerprint } as const;
    const kubernetes = hosts.map((host): Wanted => ({ ...server, host }));
    return [...api, ...kubernetes, ...beside];
  });
}

/** The shared address, when this machine answers for it and it is one that we can bind. */
function virtualAddresses(world: World, machine: Machine, now: number): readonly string[] {
  const held = clusterOf(world, machine)?.virtualIp;
  return held?.owner === machine.id && held.at <= now && held.address.startsWith("127.") ? [held.address] : [];
}

/** Undefined while nobody can sign its certificate: that may change with the next machine that has its config. */
async function start(
  simulation: Simulation,
  endpoint: Wanted,
  onConnection: () => void,
): Promise<Endpoint | undefined> {
  const { machineId, host, port, kind } = endpoint;
  const manners = (): Manners => {
    onConnection();
    const faults = simulation.world.machines[machineId]?.faults ?? [];
    const { now } = simulation.moment;
    if (faultOf(faults, "reset", now) !== undefined) return "reset";
    return faultOf(faults, "half-open", now) === undefined ? "serve" : "silent";
  };
  if (isSide(kind)) {
    const server = createSideServer(
      kind,
      () => sideTls(simulation, machineId, kind),
      () => configOf(simulation.world.machines[machineId] as Machine)?.token ?? "",
    );
    // A program of the host that listens everywhere, such as a kubelet, may have the port; nothing needs it.
    return listen(server, host, port, manners, () => Promise.resolve()).catch(() => nothing);
  }
  const tls = tlsOf(simulation, endpoint);
  if (tls === undefined) return undefined;
  if (kind === "kubernetes") {
    return listen(createKubernetesServer(tls, simulation, machineId), host, port, manners, () => Promise.resolve());
  }
  const trickle = (): number | undefined =>
    faultOf(simulation.world.machines[machineId]?.faults ?? [], "trickle", simulation.moment.now)?.milliseconds;
  const serve: CallHandler = (call, requests) => dispatch(simulation, methods, machineId, call, requests);
  const { server, drain } = createGrpcServer(tls, serve, (path) => methods.get(path)?.responseStream === true, trickle);
  return listen(server, host, port, manners, drain);
}

/** apid takes up new certificates as it goes. */
function renew(simulation: Simulation, endpoint: Wanted, { renew: take }: Endpoint): void {
  const tls = tlsOf(simulation, endpoint);
  if (tls !== undefined) take?.(tls);
}

const nothing: Endpoint = { close: () => Promise.resolve(), mute: () => undefined };

function isSide(kind: Wanted["kind"]): kind is SideService {
  return kind === "trustd" || kind === "etcd" || kind === "kubelet";
}

function sideTls(simulation: Simulation, machineId: string, service: SideService): TlsOptions | undefined {
  const { world, moment } = simulation;
  const machine = world.machines[machineId];
  const config = machine === undefined ? undefined : configOf(machine);
  if (machine === undefined || config === undefined) return undefined;
  const identity = sideIdentity(service, world, machine, config, moment);
  if (identity === undefined) return undefined;
  return { ...forTls(identity), ca: config.etcdCa?.certificate };
}

function tlsOf(simulation: Simulation, { machineId, kind }: Wanted): TlsOptions | undefined {
  const { world, moment } = simulation;
  const machine = world.machines[machineId];
  if (machine === undefined) return undefined;
  if (kind === "maintenance") return forTls(machine.maintenance);
  const config = configOf(machine);
  if (config === undefined) return undefined;
  const identity =
    kind === "secure" ? apiIdentity(world, machine, config, moment) : kubernetesIdentity(machine, config, moment);
  if (identity === undefined) return undefined;
  return kind === "secure"
    ? { ...forTls(identity), ca: [...osCas(config)], requestCert: true, rejectUnauthorized: true }
    : { ...forTls(identity), ca: [...kubernetesCas(config)], requestCert: true, rejectUnauthorized: false };
}
