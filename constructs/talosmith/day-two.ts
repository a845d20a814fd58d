// SPDX-License-Identifier: Apache-2.0
// What is added to a running cluster.
import type { Construct } from "constructs";
import type { ArgumentsOf, addonSettings, bucketSettings } from "../../model/settings/index.ts";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";

export interface AddonArguments extends ArgumentsOf<typeof addonSettings> {
  /** Addresses of the control planes. */
  readonly endpoints: readonly string[];
  /** YAML texts; they are in plan and state. */
  readonly values?: readonly string[];
  readonly on_destroy?: string;
}

/** A Helm release. */
export class AddonResource extends Resource<AddonArguments> {
  constructor(scope: Construct, id: string, args: Arguments<AddonArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_addon", args, meta);
  }
}

export interface EtcdSnapshotArguments {
  readonly cluster_name: string;
  /** Addresses of the control planes. */
  readonly endpoints: readonly string[];
  /** Relative to the project's root. Either this or `s3`. */
  readonly directory?: string | undefined;
  readonly s3?: ArgumentsOf<typeof bucketSettings> | undefined;
  readonly pki_age_recipients?: readonly string[] | undefined;
  readonly triggers?: { readonly [name: string]: string } | undefined;
}

/** A backup of etcd. */
export class EtcdSnapshotResource extends Resource<EtcdSnapshotArguments> {
  constructor(scope: Construct, id: string, args: Arguments<EtcdSnapshotArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_etcd_snapshot", args, meta);
  }
}
