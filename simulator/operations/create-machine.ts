// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { createCertificateAuthority, issueCertificate } from "../../talos/pki/index.ts";
import { randomUuid } from "../machine/chance.ts";
import type { Moment } from "../machine/timings.ts";
import { type Machine, type World, withMachine } from "../machine/world.ts";

export interface NewMachine {
  readonly name: string;
  readonly cluster: string;
  readonly address: string;
  /** The release of the image that it boots, with the leading v. */
  readonly talosVersion: string;
  /** Who has it made, such as a Terraform state. */
  readonly owner?: string;
}

/** Longer than any test or demonstration: the certificate must stay the one that was pinned. */
const maintenanceLifetime = 10 * 365 * 24 * 3_600_000;

/** Switches on a machine with an empty disk. */
export function createMachine(world: World, input: NewMachine, moment: Moment): { world: World; machine: Machine } {
  const { entropy, now, timings } = moment;
  const clock = { now: () => new Date(now) };
  const authority = createCertificateAuthority({ kind: "ed25519", organization: "talos", clock, entropy });
  const maintenance = issueCertificate(
    authority,
    {
      subject: { commonName: "maintenance-service.talos.dev" },
      dnsNames: [input.name],
      ipAddresses: [input.address, "127.0.0.1", "::1"],
      notBefore: new Date(now - 60_000),
      notAfter: new Date(now + maintenanceLifetime),
      usages: ["serverAuth"],
    },
    { entropy },
  );
  const machine: Machine = given({
    id: randomUuid(entropy),
    name: input.name,
    cluster: input.cluster,
    owner: input.owner,
    address: input.address,
    talosVersion: input.talosVersion,
    imageVersion: input.talosVersion,
    maintenance,
    disk: { meta: {} },
    life: { stage: "starting", until: now + timings.start },
    bootId: randomUuid(entropy),
    bootedAt: now,
    services: {},
    stopped: [],
    components: {},
    events: [],
    eventCount: 0,
    images: [],
    faults: [],
  });
  return { world: withMachine(world, machine), machine };
}
