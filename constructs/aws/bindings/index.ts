// SPDX-License-Identifier: Apache-2.0
// The part of hashicorp/aws 6 that we use; test/constructs/conformance.test.ts holds it against the real schema.
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, DataSource, Provider, Resource } from "../../terraform/index.ts";
import type { ComputeResources } from "./compute.ts";
import type { NetworkResources } from "./network.ts";
import type { StorageResources } from "./storage.ts";

export interface AwsProviderArguments {
  readonly region: string;
  readonly default_tags?: { readonly tags: { readonly [key: string]: string } };
}

export class AwsProvider extends Provider<AwsProviderArguments> {
  constructor(scope: Construct, id: string, args: AwsProviderArguments) {
    super(scope, id, { name: "aws", source: "hashicorp/aws", version: "~> 6.0" }, args);
  }
}

export type { SecurityGroupRuleArguments } from "./network.ts";
export interface AwsResources extends ComputeResources, NetworkResources, StorageResources {}

/** Any resource of hashicorp/aws that we use; its type decides its arguments. */
export class AwsResource<T extends keyof AwsResources> extends Resource<AwsResources[T]> {
  constructor(scope: Construct, id: string, type: T, args: Arguments<AwsResources[T]>, meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }

  get arn(): string {
    return this.getStringAttribute("arn");
  }

  /** A reference to what Terraform knows of it under this name. */
  attribute(name: string): string {
    return this.getStringAttribute(name);
  }
}

export interface AwsDataSources {
  aws_ami: {
    readonly owners: readonly string[];
    readonly most_recent: boolean;
    readonly filter: readonly { readonly name: string; readonly values: readonly string[] }[];
  };
  aws_availability_zones: {
    readonly state: "available";
    readonly filter: readonly { readonly name: string; readonly values: readonly string[] }[];
  };
  aws_caller_identity: Record<never, never>;
  aws_partition: Record<never, never>;
  aws_route53_zone: { readonly name: string };
}

/** Any data source of hashicorp/aws that we use. */
export class AwsDataSource<T extends keyof AwsDataSources> extends DataSource<AwsDataSources[T]> {
  constructor(scope: Construct, id: string, type: T, args: AwsDataSources[T], meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }

  attribute(name: string): string {
    return this.getStringAttribute(name);
  }

  /** One of a list, by its place. */
  item(name: string, index: number): string {
    return this.getStringAttribute(`${name}[${index}]`);
  }
}
