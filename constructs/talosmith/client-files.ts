// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";

export interface ClientFilesArguments {
  readonly cluster_name: string;
  /** Addresses that talosctl connects to. */
  readonly endpoints: readonly string[];
  /** Machines that talosctl speaks about when none is named. */
  readonly nodes: readonly string[];
  /** Relative to the project's root. */
  readonly kubeconfig_path: string;
  readonly talosconfig_path: string;
  /** Files whose content is kept in the state as well: kubeconfig, talosconfig. */
  readonly contents?: readonly string[];
  /** Whether a missing file is a change to be made. @default true */
  readonly keep_on_disk?: boolean;
}

/** The kubeconfig and talosconfig of a cluster; all references. */
export interface ClientFiles {
  /** Path of the kubeconfig. */
  readonly kubeconfigPath: string;
  /** Path of the talosconfig. */
  readonly talosconfigPath: string;
  /** Contents of the kubeconfig; only where `contentsInState` lists it. */
  readonly kubeconfig: string;
  /** Contents of the talosconfig; only where `contentsInState` lists it. */
  readonly talosconfig: string;
}

/** kubeconfig and talosconfig on disk. */
export class ClientFilesResource extends Resource<ClientFilesArguments> implements ClientFiles {
  constructor(scope: Construct, id: string, args: Arguments<ClientFilesArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_client_files", args, meta);
  }

  get kubeconfigPath(): string {
    return this.getStringAttribute("kubeconfig_path");
  }

  get talosconfigPath(): string {
    return this.getStringAttribute("talosconfig_path");
  }

  get kubeconfig(): string {
    return this.getStringAttribute('files["kubeconfig"]');
  }

  get talosconfig(): string {
    return this.getStringAttribute('files["talosconfig"]');
  }
}
