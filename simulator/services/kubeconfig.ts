// SPDX-License-Identifier: Apache-2.0
import { gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { Data } from "../../talos/api/gen/common/common.ts";
import type { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import type { Entropy } from "../../talos/clock.ts";
import { issueCertificate, type KeyPair } from "../../talos/pki/index.ts";
import { CallError } from "../machine/call-error.ts";
import { kubernetesCas, type NodeConfig } from "../machine/node-config.ts";
import { tarEntry } from "./file-system.ts";
import { controlPlaneOnly, type Handlers } from "./method.ts";

/** The admin kubeconfig, as the stream of one gzipped tar that talosctl expects. */
export const kubeconfigMethods: Handlers<typeof MachineServiceService> = {
  async *kubeconfig(call) {
    const config = controlPlaneOnly(call, "kubeconfig");
    const { now, entropy } = call.simulation.moment;
    const text = adminKubeconfig(config, now, entropy);
    // Real nodes send neither padding nor an end of the archive.
    yield Data.fromPartial({ bytes: gzipSync(tarEntry("kubeconfig", Buffer.from(text), now, false)) });
  },
};

function adminKubeconfig(config: NodeConfig, now: number, entropy: Entropy): string {
  const admin = issueCertificate(
    authorityOf(config),
    {
      subject: { commonName: "admin", organizations: ["system:masters"] },
      notBefore: new Date(now - 10_000),
      notAfter: new Date(now + config.adminLifetime),
      usages: ["clientAuth"],
      keyUsages: ["digitalSignature", "keyEncipherment"],
    },
    { entropy },
  );
  const authorities = kubernetesCas(config).join("");
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const user = `admin@${config.clusterName}`;
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: config.clusterName,
          cluster: { server: config.endpoint, "certificate-authority-data": base64(authorities) },
        },
      ],
      users: [
        {
          name: user,
          user: { "client-certificate-data": base64(admin.certificate), "client-key-data": base64(admin.key) },
        },
      ],
      contexts: [{ context: { cluster: config.clusterName, namespace: "default", user }, name: user }],
      "current-context": user,
    },
    { indentSeq: false, lineWidth: 0 },
  );
}

function authorityOf(config: NodeConfig): KeyPair {
  const { certificate, key } = config.kubernetesCa;
  if (key === undefined) throw new CallError("Internal", "the config of this control plane has no Kubernetes CA key");
  return { certificate, key };
}
