// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import type { Role } from "../../model/index.ts";
import type { Addressable } from "../terraform/index.ts";

/** What a machine boots from before it has a config. */
export type BootMedium = "simulator" | "disk-image" | "machine-image" | "maintenance" | "container";

/** A machine to create. */
export interface MachineRequest {
  /** Host name. */
  readonly name: string;
  /** Role in the cluster. */
  readonly role: Role;
  /** Name of its pool. */
  readonly pool: string;
  /** Position in its pool, starting at 1. */
  readonly index: number;
}

/** One machine of a cluster. An infrastructure extends it and creates the machine's resources below it. */
export abstract class Machine extends Construct {
  /** Host name. */
  readonly name: string;
  /** Role in the cluster. */
  readonly role: Role;
  /** Name of its pool. */
  readonly pool: string;
  /** Position in its pool, starting at 1. */
  readonly index: number;
  /** Address of its Talos API; usually a reference. */
  abstract readonly address: string;
  /** What it boots from before it has a config. */
  abstract readonly bootMedium: BootMedium;
  /** Resource that runs it, created before it joins and deleted after it is removed; undefined for existing machines. */
  abstract readonly resource: Addressable | undefined;
  /** What stays the same for as long as it is the same machine to the cluster: a reference, usually to its disk. */
  abstract readonly identity: string;

  /** Further resources created before it joins and deleted after it is removed: its disks, the route to it. */
  readonly needs: Addressable[] = [];

  constructor(scope: Construct, request: MachineRequest, id = String(request.index)) {
    super(scope, id);
    this.name = request.name;
    this.role = request.role;
    this.pool = request.pool;
    this.index = request.index;
  }

  /** Fingerprint of its certificate in maintenance mode, where it is known. */
  get fingerprint(): string | undefined {
    return undefined;
  }

  /** A reference that changes when the machine has to be stopped, or replaced around its disk. */
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
