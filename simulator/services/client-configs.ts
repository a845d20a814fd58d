// SPDX-License-Identifier: Apache-2.0
import { gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { Data } from "../../talos/api/gen/common/common.ts";
import {
  GenerateClientConfigurationResponse,
  type MachineServiceService,
} from "../../talos/api/gen/machine/machine.ts";
import { issueCertificate, type KeyPair, type LeafOptions, toBase64 } from "../../talos/pki/index.ts";
import { CallError } from "../machine/call-error.ts";
import { type Authority, kubernetesCas, type NodeConfig } from "../machine/node-config.ts";
import { tarEntry } from "./file-system.ts";
import { answer, type Call, controlPlaneOnly, type Handlers, millisecondsOf } from "./method.ts";

/** What lets a client in: the admin kubeconfig, and talosconfigs with the roles that are asked for. */
export const clientConfigMethods: Handlers<typeof MachineServiceService> = {
  /** As the stream of one gzipped tar that talosctl expects. */
  async *kubeconfig(call) {
    const config = controlPlaneOnly(call, "kubeconfig");
    const text = adminKubeconfig(call, config);
    // Real nodes send neither padding nor an end of the archive.
    const archive = tarEntry("kubeconfig", Buffer.from(text), call.simulation.moment.now, false);
    yield Data.fromPartial({ bytes: gzipSync(archive) });
  },

  generateClientConfiguration: answer(GenerateClientConfigurationResponse, (call, { roles, crtTtl }) => {
    const { osCa, clusterName } = controlPlaneOnly(call, "generate client configuration");
    const lifetime = millisecondsOf(crtTtl);
    if (lifetime <= 0) throw new CallError("InvalidArgument", "crt_ttl should be positive");
    const organizations = roles.length === 0 ? ["os:admin"] : [...roles];
    const { now } = call.simulation.moment;
    const client = issueClient(call, osCa, "the config has no CA key", {
      subject: { organizations },
      notBefore: new Date(now),
      notAfter: new Date(now + lifetime),
    });
    const [role = "os:admin"] = organizations;
    const name = organizations.length === 1 ? `${role.replace(/^os:/, "")}@${clusterName}` : clusterName;
    const { certificate: ca } = osCa;
    const context = { endpoints: [], ca: toBase64(ca), crt: toBase64(client.certificate), key: toBase64(client.key) };
    const talosconfig = stringify({ context: name, contexts: { [name]: context } }, { indent: 4, lineWidth: 0 });
    return {
      ca: Buffer.from(ca),
      crt: Buffer.from(client.certificate),
      key: Buffer.from(client.key),
      talosconfig: Buffer.from(talosconfig),
    };
  }),
};

function adminKubeconfig(call: Call, config: NodeConfig): string {
  const { now } = call.simulation.moment;
  const keyless = "the config of this control plane has no Kubernetes CA key";
  const admin = issueClient(call, config.kubernetesCa, keyless, {
    subject: { commonName: "admin", organizations: ["system:masters"] },
    notBefore: new Date(now - 10_000),
    notAfter: new Date(now + config.adminLifetime),
    keyUsages: ["digitalSignature", "keyEncipherment"],
  });
  const { clusterName, endpoint } = config;
  const cluster = { server: endpoint, "certificate-authority-data": toBase64(kubernetesCas(config).join("")) };
  const user = { "client-certificate-data": toBase64(admin.certificate), "client-key-data": toBase64(admin.key) };
  const name = `admin@${clusterName}`;
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: clusterName, cluster }],
      users: [{ name, user }],
      contexts: [{ context: { cluster: clusterName, namespace: "default", user: name }, name }],
      "current-context": name,
    },
    { indentSeq: false, lineWidth: 0 },
  );
}

function issueClient(
  call: Call,
  { certificate, key }: Authority,
  keyless: string,
  input: Omit<LeafOptions, "usages">,
): KeyPair {
  if (key === undefined) throw new CallError("Internal", keyless);
  const { entropy } = call.simulation.moment;
  return issueCertificate({ certificate, key }, { ...input, usages: ["clientAuth"] }, { entropy });
}
