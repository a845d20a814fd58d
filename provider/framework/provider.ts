// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf } from "./attribute.ts";
import type { DataSource } from "./data-source.ts";
import type { Diagnostics, ErrorTranslator } from "./diagnostics.ts";
import type { EphemeralResource } from "./ephemeral-resource.ts";
import type { ProviderFunction } from "./function.ts";
import type { Log } from "./log.ts";
import type { Resource, ValidateRequest } from "./resource.ts";

export interface ConfigureRequest<S extends Attributes> {
  /** May hold unknown values in a first plan, when the provider block depends on a resource. */
  readonly config: ConfigOf<S>;
  readonly log: Log;
  readonly diagnostics: Diagnostics;
}

/** All that Terraform can ask of us. `C` is handed to every operation. */
export interface Provider<S extends Attributes, C> {
  readonly description: string;
  readonly attributes: S;
  readonly resources: readonly Resource<Attributes, C>[];
  readonly dataSources: readonly DataSource<Attributes, C>[];
  readonly ephemeralResources: readonly EphemeralResource<Attributes, C>[];
  readonly functions: readonly ProviderFunction[];
  /** Turns errors of our own libraries into what a person can act on. */
  readonly translateError?: ErrorTranslator;
  validate?(request: ValidateRequest<S>): void | Promise<void>;
  configure(request: ConfigureRequest<S>): C | Promise<C>;
}
