// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import type { Role } from "../../model/index.ts";
import type { Addressable } from "../terraform/index.ts";

/** What a machine starts from before it has a config. */
export type BootMedium = "simulator" | "disk-image" | "machine-image" | "maintenance" | "container";

/** A machine to be made. */
export interface MachineRequest {
  /** Host name. */
  readonly name: string;
  readonly role: Role;
  readonly pool: string;
  /** Place in its pool, from one. */
  readonly index: number;
}

/** One machine of a cluster. Each infrastructure has its own kind, which makes the resources under it. */
export abstract class Machine extends Construct {
  readonly name: string;
  readonly role: Role;
  readonly pool: string;
  readonly index: number;
  /** Where its Talos API answers; usually a reference. */
  abstract readonly address: string;
  abstract readonly bootMedium: BootMedium;
  /** What runs it: there before the machine can be a member, and until it has left. Undefined when nothing made it. */
  abstract readonly resource: Addressable | undefined;
  /** What it keeps for as long as it is the same machine to the cluster: a reference, usually to its disk. */
  abstract readonly identity: string;

  /** What else has to be there before it joins and until it has left: the way to this machine alone, its disks. */
  readonly needs: Addressable[] = [];

  constructor(scope: Construct, request: MachineRequest, id = String(request.index)) {
    super(scope, id);
    this.name = request.name;
    this.role = request.role;
    this.pool = request.pool;
    this.index = request.index;
  }

  /** Fingerprint of its certificate in maintenance mode, where it is known beforehand. */
  get fingerprint(): string | undefined {
    return undefined;
  }

  /** A reference that changes when the machine has to be stopped or made anew around its disk. */
  get hardwareId(): string | undefined {
    return undefined;
  }

  /** Values of its META partition by key. */
  get meta(): { readonly [key: string]: string } {
    return {};
  }

  /** Config patches that its infrastructure needs. */
  get patches(): readonly string[] {
    return [];
  }
}
