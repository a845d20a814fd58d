// SPDX-License-Identifier: Apache-2.0
import type { Role } from "../../talos/config/index.ts";
import { type Attributes, attribute, type EphemeralResource, path } from "../framework/index.ts";
import { firstExpiry, issueTalosconfig, nodesOf } from "./access.ts";
import type { Client } from "./client.ts";
import { oneOf } from "./value-rules.ts";

const hour = 3_600_000;

const attributes = {
  cluster_name: attribute.required.string("Name of the context."),
  endpoints: attribute.required.stringList("Addresses of the control planes."),
  nodes: attribute.optional.stringList(
    "Machines that are meant when none is named. Default: the first of `endpoints`.",
  ),
  roles: attribute.optional.stringList("What it may do. Default `os:admin`; less is `os:reader`."),
  ttl_hours: attribute.optional.integer("How long it is valid. Default 1.", {
    validators: [
      (value, where, diagnostics) => {
        if (value < 1)
          diagnostics.error({
            summary: "Too short",
            detail: `Found ${value}; expected one hour at least.`,
            path: where,
          });
      },
    ],
  }),
  talosconfig: attribute.computed.string("The talosconfig, YAML.", { sensitive: true }),
  expires_at: attribute.computed.string("When its certificate expires."),
} satisfies Attributes;

/** Access to the machines for one run, with as little as is needed. */
export const talosconfig: EphemeralResource<typeof attributes, Client> = {
  name: "talosmith_talosconfig",
  description: "A talosconfig with fresh, short-lived credentials. It is in no plan and no state.",
  attributes,

  async validate({ config, diagnostics }) {
    if (!Array.isArray(config.roles)) return;
    const { roles: known } = await import("../../talos/config/index.ts");
    for (const [index, role] of config.roles.entries())
      if (typeof role === "string") oneOf(...known)(role, path("roles").index(index), diagnostics);
  },

  async open({ config, client }) {
    const { text, credentials } = await issueTalosconfig(await client.secrets.of(null), {
      clusterName: config.cluster_name,
      endpoints: config.endpoints,
      nodes: nodesOf(config),
      roles: (config.roles ?? ["os:admin"]) as readonly Role[],
      ttl: (config.ttl_hours ?? 1) * hour,
    });
    return { ...config, talosconfig: text, expires_at: firstExpiry([credentials.certificate]) };
  },
};
