// SPDX-License-Identifier: Apache-2.0
import { kubeconfigParts } from "../../talos/client-file.ts";
import { type Attributes, attribute, type EphemeralResource } from "../framework/index.ts";
import { fetchKubeconfig, firstExpiry } from "./access.ts";
import type { Client } from "./client.ts";
import { controlPlaneAddresses } from "./value-rules.ts";

const attributes = {
  endpoints: controlPlaneAddresses,
  kubeconfig: attribute.computed.string("The admin kubeconfig, YAML.", { sensitive: true }),
  host: attribute.computed.string("URL of the Kubernetes API."),
  cluster_ca_certificate: attribute.computed.string("CA of the Kubernetes API, PEM."),
  client_certificate: attribute.computed.string("Certificate of the admin, PEM.", { sensitive: true }),
  client_key: attribute.computed.string("Key of the admin, PEM.", { sensitive: true }),
  expires_at: attribute.computed.string("When the client certificate expires."),
} satisfies Attributes;

/** Access to Kubernetes for one run, for the configuration of other providers. */
export const kubeconfig: EphemeralResource<typeof attributes, Client> = {
  name: "talosmith_kubeconfig",
  description: "The admin kubeconfig of a running cluster, whole and in parts. It is in no plan and no state.",
  attributes,

  async open({ config, client, signal }) {
    const { endpoints } = config;
    const text = await fetchKubeconfig(client, endpoints, signal);
    const parts = kubeconfigParts(text);
    return {
      endpoints,
      kubeconfig: text,
      host: parts.host,
      cluster_ca_certificate: parts.caCertificate,
      client_certificate: parts.clientCertificate,
      client_key: parts.clientKey,
      expires_at: firstExpiry([parts.clientCertificate]),
    };
  },
};
