// SPDX-License-Identifier: Apache-2.0
import {
  checkNetworkConfig,
  createIso,
  createNoCloudIso,
  defaultTemplates,
  fillTemplate,
  type NoCloudMachine,
  readIso,
  renderMeta,
  renderNoCloud,
  type TemplateValue,
} from "../../../cloud-init/index.ts";
import { parseYaml, toPlainData } from "../../../talos/yaml/index.ts";
import { hostileData, hostileKeys, hostileTexts } from "../hostile-values.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import { mutateText } from "../mutate-text.ts";
import type { Random } from "../random.ts";
import { seedFiles } from "../seeds.ts";
import { afterwards, bytesTrial, promise, type Target, type Trial, textTrial } from "../target.ts";

const templates = [
  defaultTemplates.metaData,
  defaultTemplates.networkConfig,
  ...seedFiles("examples/environments", /\.hbs$/).map(({ text }) => text),
  "{{#if gateway}}a: {{gateway}}{{else}}b: 1{{/if}}\n{{#each nameservers}}- {{this}}\n{{/each}}\n",
  "{{#with hostname}}h: {{this}}{{/with}}\n{{#unless x}}y: {{address}}{{/unless}}\n",
];
const networkConfigs = [
  "version: 2\nethernets:\n  eth0:\n    dhcp4: true\n",
  "network:\n  version: 1\n  config:\n    - type: physical\n      name: eth0\n    - type: nameserver\n      address: [1.1.1.1]\n",
];
const plain: NoCloudMachine = {
  hostname: "a-cp-1",
  instanceId: "a-cp-1",
  mac: "52:54:00:c1:00:01",
  address: "10.0.0.70/24",
  gateway: "10.0.0.1",
  nameservers: ["10.0.0.1", "1.1.1.1"],
};
const image = createNoCloudIso({ ...renderNoCloud(plain), "user-data": "machine: {}\n" });

/** Values, templates and images of NoCloud and META: whatever they hold, no key is added and no byte lost. */
export const cloudInitTarget: Target = {
  name: "cloud-init",
  about: "NoCloud values, templates, network-config and META; images written, and images of garbage read",
  make(random) {
    switch (random.below(6)) {
      case 0:
        return valuesTrial(hostileMachine(random));
      case 1:
        return textTrial(mutateText(random.pick(networkConfigs), random, templates), checkNetworkConfig, "network ");
      case 2:
        return bytesTrial(mutateIso(random), (bytes) => void readIso(bytes, "seed.iso"), "image ");
      case 3:
        return filesTrial(
          Array.from({ length: random.below(5) }, () => ({
            name: random.pick([...hostileKeys, "meta-data", "user-data", "A", "a"]),
            content: Buffer.from(random.pick(hostileTexts)),
          })),
        );
      case 4: {
        const machine = random.chance(0.5) ? plain : hostileMachine(random);
        return textTrial(
          mutateText(random.pick(templates), random, templates),
          (text) => tryMeta(text, machine),
          "META ",
        );
      }
      default: {
        const values = { ...plain, extra: hostileData(random) as TemplateValue };
        const text = mutateText(random.pick(templates), random, templates);
        return textTrial(text, (template) => void fillTemplate(template, "template", values), "template ");
      }
    }
  },
};

function hostileMachine(random: Random): NoCloudMachine {
  const text = () => random.pick(hostileTexts);
  return {
    hostname: text(),
    instanceId: text(),
    mac: text(),
    address: text(),
    gateway: text(),
    nameservers: Array.from({ length: random.below(4) }, text),
  };
}

/** Offsets and sizes of directory and files, rather than content, which anything may be. */
function mutateIso(random: Random): Uint8Array {
  const [start, end] = random.pick([
    [16 * 2048, 19 * 2048],
    [25 * 2048, 26 * 2048],
    [0, image.length],
  ] as const);
  const part = mutateBytes(image.subarray(start, end), random);
  return Buffer.concat([image.subarray(0, start), part, image.subarray(end)]);
}

function valuesTrial(machine: NoCloudMachine): Trial {
  return { show: () => JSON.stringify(machine), run: () => tryValues(machine), smaller: () => [] };
}

function tryValues(machine: NoCloudMachine): void {
  const files = renderNoCloud(machine);
  const read = (text: string) =>
    afterwards("a rendered file can be read", () => parseYaml(text, "file").map(toPlainData));
  const { instanceId, hostname, mac, address, gateway, nameservers } = machine;
  sameData(read(files["meta-data"]), [{ "instance-id": instanceId, "local-hostname": hostname }]);
  const link = {
    match: { macaddress: mac },
    dhcp4: false,
    addresses: [address],
    routes: [{ to: "default", via: gateway }],
    nameservers: { addresses: nameservers },
  };
  sameData(read(files["network-config"]), [{ version: 2, ethernets: { eth0: link } }]);
  const seen = afterwards("an image can be read", () => readIso(createNoCloudIso(files), "seed.iso"));
  sameData(Object.fromEntries(seen), files);
}

function sameData(found: unknown, wanted: unknown): void {
  promise(JSON.stringify(found) === JSON.stringify(wanted), "what was written is read back");
}

interface File {
  readonly name: string;
  readonly content: Uint8Array;
}

function filesTrial(files: readonly File[]): Trial {
  return {
    show: () => JSON.stringify(files.map(({ name, content }) => [name, Buffer.from(content).toString("base64")])),
    run: () => {
      const written = createIso("cidata", files);
      const read = afterwards("an image can be read", () => readIso(written, "seed.iso"));
      promise(read.size === files.length, "every file is in the image");
      for (const { name, content } of files)
        promise(read.get(name) === Buffer.from(content).toString(), `${name} is read as it was written`);
    },
    *smaller() {
      for (const at of files.keys()) yield filesTrial(files.filter((_, index) => index !== at));
    },
  };
}

function tryMeta(template: string, machine: NoCloudMachine): void {
  const values = renderMeta({ ...machine, role: "worker", cluster: "c" }, { "0xa": template, "12": template });
  promise(values["12"] !== undefined, "every key has its value");
  if (values["10"]) afterwards("network settings are YAML", () => parseYaml(values["10"] ?? "", "META"));
}
