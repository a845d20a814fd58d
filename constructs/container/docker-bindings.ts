// SPDX-License-Identifier: Apache-2.0
// The part of kreuzwerker/docker 3 that we use; test/constructs/conformance.test.ts holds it against the schema.
import type { Construct } from "constructs";
import { type BindingMeta, Provider, Resource } from "../terraform/index.ts";

export class DockerProvider extends Provider<{ readonly host?: string | undefined }> {
  constructor(scope: Construct, id: string, args: { readonly host?: string | undefined }, alias?: string) {
    super(scope, id, { name: "docker", source: "kreuzwerker/docker", version: "~> 3.6" }, args, alias);
  }
}

interface DockerNetworkArguments {
  readonly name: string;
  readonly driver: "bridge";
  readonly ipam_config: readonly { readonly subnet: string; readonly gateway: string }[];
}

export interface DockerContainerArguments {
  readonly name: string;
  readonly image: string;
  readonly hostname: string;
  readonly env: readonly string[];
  readonly privileged: boolean;
  readonly read_only: boolean;
  readonly cgroupns_mode: "private";
  readonly security_opts: readonly string[];
  readonly sysctls: { readonly [name: string]: string };
  readonly restart: "unless-stopped";
  /** In MiB. */
  readonly memory?: number;
  readonly cpus?: string;
  readonly mounts: readonly { readonly type: "tmpfs" | "volume"; readonly target: string; readonly source?: string }[];
  readonly networks_advanced: readonly { readonly name: string; readonly ipv4_address: string }[];
  /** A `ports` block for each port of the row. */
  readonly dynamic?: {
    readonly ports: {
      readonly for_each: string;
      readonly content: { readonly internal: string; readonly external: string; readonly ip: string };
    };
  };
}

export interface DockerResources {
  docker_network: DockerNetworkArguments;
  docker_volume: { readonly name: string };
  docker_container: DockerContainerArguments;
}

/** Any resource of kreuzwerker/docker that we use; its type decides its arguments. */
export class DockerResource<T extends keyof DockerResources> extends Resource<DockerResources[T]> {
  constructor(scope: Construct, id: string, type: T, args: DockerResources[T], meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }
}
