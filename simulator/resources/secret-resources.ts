// SPDX-License-Identifier: Apache-2.0
import type { Source } from "./item.ts";

/** What may be shown of a machine's secrets: certificates and the names in them. Keys are not served by the simulator. */
export const secretResources: Readonly<Record<string, Source>> = {
  "OSRootSecrets.secrets.talos.dev": {
    owner: "secrets.RootOSController",
    items: ({ config }) => {
      if (config === undefined) return [];
      const accepted = [config.osCa.certificate, ...config.acceptedOsCas];
      const names = { certSANIPs: [], certSANDNSNames: config.certSans };
      return [{ id: "os", spec: { ...authorities(accepted), ...names } }];
    },
  },
  "KubernetesRootSecrets.secrets.talos.dev": {
    owner: "secrets.RootKubernetesController",
    items: ({ config }) => {
      if (config?.type !== "controlplane") return [];
      const accepted = [config.kubernetesCa.certificate, ...config.acceptedKubernetesCas];
      const { clusterName: name, dnsDomain } = config;
      return [{ id: "k8s", spec: { name, dnsDomain, ...authorities(accepted) } }];
    },
  },
  "CertSANs.secrets.talos.dev": {
    owner: "secrets.APICertSANsController",
    items: ({ machine, config, hostname }) => {
      const addresses = [machine.address, "127.0.0.1"];
      const maintenance = {
        id: "maintenance",
        spec: { ips: [...addresses, "::1"], dnsNames: [hostname], fqdn: "maintenance-service.talos.dev" },
      };
      if (config === undefined) return [maintenance];
      const named = config.certSans.filter((name) => !/^[\d.]+$|:/.test(name));
      const numeric = config.certSans.filter((name) => /^[\d.]+$|:/.test(name));
      const api = {
        id: "api",
        spec: { ips: [...numeric, ...addresses], dnsNames: [...named, hostname], fqdn: hostname },
      };
      if (config.type !== "controlplane") return [api, maintenance];
      const service = (config.serviceSubnets[0] ?? "10.96.0.0/12").replace(/\.\d+\/\d+$/, ".1");
      const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
      const kubernetes = {
        id: "k8s",
        spec: {
          ips: [machine.address, service, "127.0.0.1"],
          dnsNames: [hostname, ...names, `kubernetes.default.svc.${config.dnsDomain}`, "localhost"],
          fqdn: "",
        },
      };
      return [api, kubernetes, maintenance];
    },
  },
};

/** The CA that issues, which is the first, and all that are accepted. */
function authorities(accepted: readonly string[]) {
  const certificates = accepted.map((crt) => ({ crt }));
  return { issuingCA: { ...certificates[0], key: "" }, acceptedCAs: certificates };
}
