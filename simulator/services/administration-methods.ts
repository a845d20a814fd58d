// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import {
  GenerateClientConfigurationResponse,
  type MachineServiceService,
  MetaDeleteResponse,
  MetaWriteResponse,
  RestartResponse,
} from "../../talos/api/gen/machine/machine.ts";
import { issueCertificate } from "../../talos/pki/index.ts";
import { CallError } from "../machine/call-error.ts";
import { without } from "../machine/world.ts";
import { controlPlaneOnly, type Handlers, millisecondsOf } from "./method.ts";
import { containersOf } from "./statistics-methods.ts";

/** META keys are one byte; resources name them in hex. */
function metaKey(key: number): string {
  if (key > 255) throw new CallError("InvalidArgument", "key must be a uint8");
  return `0x${key.toString(16).padStart(2, "0")}`;
}

export const administrationMethods: Handlers<typeof MachineServiceService> = {
  generateClientConfiguration(call, { roles, crtTtl }) {
    const config = controlPlaneOnly(call, "generate client configuration");
    const lifetime = millisecondsOf(crtTtl);
    if (lifetime <= 0) throw new CallError("InvalidArgument", "crt_ttl should be positive");
    const { certificate: ca, key } = config.osCa;
    if (key === undefined) throw new CallError("Internal", "the config has no CA key");
    const { now, entropy } = call.simulation.moment;
    const organizations = roles.length === 0 ? ["os:admin"] : [...roles];
    const pair = issueCertificate(
      { certificate: ca, key },
      {
        subject: { organizations },
        notBefore: new Date(now),
        notAfter: new Date(now + lifetime),
        usages: ["clientAuth"],
      },
      { entropy },
    );
    const [role = "os:admin"] = organizations;
    const name = organizations.length === 1 ? `${role.replace(/^os:/, "")}@${config.clusterName}` : config.clusterName;
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const context = { endpoints: [], ca: base64(ca), crt: base64(pair.certificate), key: base64(pair.key) };
    const talosconfig = stringify({ context: name, contexts: { [name]: context } }, { indent: 4, lineWidth: 0 });
    return GenerateClientConfigurationResponse.fromPartial({
      messages: [
        {
          ca: Buffer.from(ca),
          crt: Buffer.from(pair.certificate),
          key: Buffer.from(pair.key),
          talosconfig: Buffer.from(talosconfig),
        },
      ],
    });
  },

  metaWrite(call, { key, value }) {
    const id = metaKey(key);
    call.change((machine) => {
      const meta = { ...machine.disk.meta, [id]: Buffer.from(value).toString("utf8") };
      return { ...machine, disk: { ...machine.disk, meta } };
    });
    return MetaWriteResponse.fromPartial({ messages: [{}] });
  },

  metaDelete(call, { key }) {
    const id = metaKey(key);
    const { disk } = call.machine();
    if (disk.meta[id] === undefined) throw new CallError("NotFound", "meta key not found");
    call.change((machine) => ({ ...machine, disk: { ...disk, meta: without(disk.meta, id) } }));
    return MetaDeleteResponse.fromPartial({ messages: [{}] });
  },

  restart(call, { namespace, id }) {
    const known = containersOf(call.world(), call.machine(), namespace).some((container) => container.id === id);
    if (!known) throw new CallError("Unknown", `container "${id}" not found`);
    return RestartResponse.fromPartial({ messages: [{}] });
  },
};
