// SPDX-License-Identifier: Apache-2.0
import { type Attributes, type Provider, Server } from "../framework/index.ts";
import { createLog } from "./hclog.ts";
import { applyResourceChange } from "./rpc/apply-resource-change.ts";
import { callFunction } from "./rpc/call-function.ts";
import { closeEphemeralResource } from "./rpc/close-ephemeral-resource.ts";
import { configureProvider } from "./rpc/configure-provider.ts";
import { getProviderSchema } from "./rpc/get-provider-schema.ts";
import { importResourceState } from "./rpc/import-resource-state.ts";
import { openEphemeralResource } from "./rpc/open-ephemeral-resource.ts";
import { planResourceChange } from "./rpc/plan-resource-change.ts";
import { readDataSource } from "./rpc/read-data-source.ts";
import { readResource } from "./rpc/read-resource.ts";
import { stopProvider } from "./rpc/stop-provider.ts";
import { upgradeResourceState } from "./rpc/upgrade-resource-state.ts";
import { validateDataResourceConfig } from "./rpc/validate-data-resource-config.ts";
import { validateEphemeralResourceConfig } from "./rpc/validate-ephemeral-resource-config.ts";
import { validateProviderConfig } from "./rpc/validate-provider-config.ts";
import { validateResourceConfig } from "./rpc/validate-resource-config.ts";
import { listen, type ServeOptions, type Session } from "./transport/index.ts";
import type { Rpc } from "./unary.ts";

/** The RPCs we answer. Of the others Terraform is told that they are not implemented, which it accepts. */
export const routes: Readonly<Record<string, Rpc>> = {
  "/tfplugin6.Provider/GetProviderSchema": getProviderSchema,
  "/tfplugin6.Provider/ValidateProviderConfig": validateProviderConfig,
  "/tfplugin6.Provider/ValidateResourceConfig": validateResourceConfig,
  "/tfplugin6.Provider/ValidateDataResourceConfig": validateDataResourceConfig,
  "/tfplugin6.Provider/ValidateEphemeralResourceConfig": validateEphemeralResourceConfig,
  "/tfplugin6.Provider/ConfigureProvider": configureProvider,
  "/tfplugin6.Provider/UpgradeResourceState": upgradeResourceState,
  "/tfplugin6.Provider/ReadResource": readResource,
  "/tfplugin6.Provider/PlanResourceChange": planResourceChange,
  "/tfplugin6.Provider/ApplyResourceChange": applyResourceChange,
  "/tfplugin6.Provider/ImportResourceState": importResourceState,
  "/tfplugin6.Provider/ReadDataSource": readDataSource,
  "/tfplugin6.Provider/OpenEphemeralResource": openEphemeralResource,
  "/tfplugin6.Provider/CloseEphemeralResource": closeEphemeralResource,
  "/tfplugin6.Provider/CallFunction": callFunction,
  "/tfplugin6.Provider/StopProvider": stopProvider,
};

/** A provider behind the RPCs of the plugin protocol. */
export function openSession(provider: Provider<Attributes, unknown>): Session {
  const server = new Server(provider, createLog());
  return {
    handler: (path) => {
      const rpc = routes[path];
      return rpc && ((message) => rpc(server, message));
    },
    stop: () => server.stop(),
  };
}

/** Runs a provider as Terraform's child process, until Terraform says so or is gone. */
export function serve(provider: Provider<Attributes, unknown>, options: ServeOptions): void {
  listen(async () => openSession(provider), options);
}
