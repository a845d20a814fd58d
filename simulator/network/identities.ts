// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../talos/given.ts";
import { createCertificateAuthority, issueCertificate, type KeyPair, keyForNode } from "../../talos/pki/index.ts";
import { configOf, hostnameOf, machinesOf } from "../controllers/membership.ts";
import { faultOf, hasFault } from "../machine/fault.ts";
import { type Authority, type NodeConfig, osCas, serviceIp } from "../machine/node-config.ts";
import type { Moment } from "../machine/timings.ts";
import type { Identity, Machine, World } from "../machine/world.ts";
import type { SideService } from "./side-server.ts";

const day = 24 * 3_600_000;
const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(":");

/** A certificate and key as node:tls takes them. */
export function forTls(identity: Identity): { readonly cert: string; readonly key: string } {
  return { cert: identity.certificate, key: keyForNode(identity.key) };
}

/** The API's server certificate: signed by the cluster's OS CA, whose key only control planes hold. */
export function apiIdentity(world: World, machine: Machine, config: NodeConfig, moment: Moment): Identity | undefined {
  const trusted = osCas(config);
  const signers = [config, ...machinesOf(world, config.clusterKey).map(configOf)].filter(
    (candidate) => candidate?.osCa.key !== undefined && trusted.includes(candidate.osCa.certificate),
  );
  // While CAs are exchanged there may be two that it could turn to; it prefers the one that its own config names.
  const signer = signers.find((candidate) => candidate?.osCa.certificate === config.osCa.certificate) ?? signers[0];
  if (signer === undefined) return undefined;
  const name = hostnameOf(machine);
  const names = [...config.certSans, config.virtualIp, machine.address, "127.0.0.1", name].filter(isGiven);
  return issue(machine, signer.osCa, name, names, moment);
}

/** The Kubernetes API server's certificate. */
export function kubernetesIdentity(machine: Machine, config: NodeConfig, moment: Moment): Identity | undefined {
  const name = hostnameOf(machine);
  const service = serviceIp(config.serviceSubnets[0], 1);
  const names = [
    ...config.apiServerSans,
    endpointHost(config.endpoint),
    config.virtualIp,
    machine.address,
    service,
    "127.0.0.1",
    name,
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    `kubernetes.default.svc.${config.dnsDomain}`,
  ].filter(isGiven);
  return issue(machine, config.kubernetesCa, "kube-apiserver", names, moment);
}

/** The certificate of one of the servers beside the APIs. */
export function sideIdentity(
  service: SideService,
  world: World,
  machine: Machine,
  config: NodeConfig,
  moment: Moment,
): Identity | undefined {
  const names = [machine.address, hostnameOf(machine), "localhost", "127.0.0.1"];
  if (service === "trustd") return apiIdentity(world, machine, config, moment);
  if (service === "etcd") return config.etcdCa && issue(machine, config.etcdCa, hostnameOf(machine), names, moment);
  const clock = { now: () => new Date(moment.now) };
  // A kubelet signs for itself until somebody approves a request for more.
  const own = createCertificateAuthority({
    kind: "ed25519",
    organization: hostnameOf(machine),
    clock,
    entropy: moment.entropy,
  });
  return issue(machine, own, hostnameOf(machine), names, moment);
}

function endpointHost(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).hostname.replace(/^\[|\]$/g, "") : "localhost";
}

function issue(
  machine: Machine,
  authority: Authority,
  commonName: string,
  names: readonly string[],
  moment: Moment,
): Identity | undefined {
  const { entropy, now } = moment;
  const signer = signerOf(machine, authority, moment);
  if (signer === undefined) return undefined;
  const unique = [...new Set(names.filter((name) => name !== ""))];
  const skew = faultOf(machine.faults, "clock-skew", now)?.milliseconds ?? 0;
  const expired = hasFault(machine, "expired-certificate", now);
  const from = now + skew - (expired ? 2 * day : 60_000);
  return issueCertificate(
    signer,
    {
      subject: { commonName },
      dnsNames: unique.filter((name) => !isAddress(name)),
      ipAddresses: unique.filter(isAddress),
      notBefore: new Date(from),
      notAfter: new Date(from + day),
      usages: ["serverAuth"],
      keyUsages: ["digitalSignature"],
    },
    { entropy },
  );
}

function signerOf(machine: Machine, authority: Authority, { now, entropy }: Moment): KeyPair | undefined {
  if (hasFault(machine, "wrong-certificate", now)) {
    const clock = { now: () => new Date(now) };
    return createCertificateAuthority({ kind: "ed25519", organization: "stranger", clock, entropy });
  }
  return authority.key === undefined ? undefined : { certificate: authority.certificate, key: authority.key };
}

/** Server certificates live a day; they are renewed at half of it. */
const renewal = 12 * 3_600_000;
/** They begin a minute before they are made: a clock that is set back by less spoils none. */
const tolerance = 30_000;

/** When certificates were made; those of another epoch are made anew. */
export interface CertificateEpoch {
  readonly half: number;
  /** By how much the time of day is ahead of a clock that nobody sets. */
  readonly offset: number;
}

/**
 * Pure: the epoch before, unless its certificates have grown old or the clock was set; a laptop that wakes up is both.
 * `elapsed` is in milliseconds, too, of a clock that nobody sets.
 */
export function certificateEpoch(before: CertificateEpoch | undefined, now: number, elapsed: number): CertificateEpoch {
  const next = { half: Math.floor(now / renewal), offset: now - elapsed };
  if (before === undefined) return next;
  return before.half === next.half && Math.abs(before.offset - next.offset) < tolerance ? before : next;
}
