// SPDX-License-Identifier: Apache-2.0
import { kubeconfigParts } from "../../talos/client-file.ts";
import { type Attributes, attribute, type EphemeralResource } from "../framework/index.ts";
import { fetchKubeconfig, firstExpiry } from "./access.ts";
import type { Client } from "./client.ts";
import { controlPlaneAddresses } from "./value-rules.ts";

const attributes = {
  endpoints: controlPlaneAddresses,
  kubeconfig: attribute.string({ mode: "computed", sensitive: true, description: "The admin kubeconfig, YAML." }),
  host: attribute.string({ mode: "computed", description: "URL of the Kubernetes API." }),
  cluster_ca_certificate: attribute.string({ mode: "computed", description: "CA of the Kubernetes API, PEM." }),
  client_certificate: attribute.string({
    mode: "computed",
    sensitive: true,
    description: "Certificate of the admin, PEM.",
  }),
  client_key: attribute.string({ mode: "computed", sensitive: true, description: "Key of the admin, PEM." }),
  expires_at: attribute.string({ mode: "computed", description: "When the client certificate expires." }),
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
