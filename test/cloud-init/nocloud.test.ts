// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { fillTemplate, renderNoCloud } from "../../cloud-init/index.ts";
import { defaultTemplates } from "../../cloud-init/nocloud.ts";

const machine = {
  hostname: "talos-cp-1",
  instanceId: "talos-cp-1",
  mac: "52:54:00:c1:00:01",
  address: "10.0.0.70/24",
  gateway: "10.0.0.1",
  nameservers: ["10.0.0.1", "1.1.1.1"],
};

describe("renderNoCloud", () => {
  it("gives a static address on the link with the machine's MAC, and no user-data", () => {
    const files = renderNoCloud(machine);
    expect(Object.keys(files)).toEqual(["meta-data", "network-config"]);
    expect(parse(files["meta-data"])).toEqual({ "instance-id": "talos-cp-1", "local-hostname": "talos-cp-1" });
    expect(parse(files["network-config"])).toEqual({
      version: 2,
      ethernets: {
        eth0: {
          match: { macaddress: "52:54:00:c1:00:01" },
          dhcp4: false,
          addresses: ["10.0.0.70/24"],
          routes: [{ to: "default", via: "10.0.0.1" }],
          nameservers: { addresses: ["10.0.0.1", "1.1.1.1"] },
        },
      },
    });
  });

  it("takes templates of the environment's own, network-config version 1 among them", () => {
    const files = renderNoCloud(machine, {
      networkConfig: `network:
  version: 1
  config:
    - type: physical
      name: eth0
      mac_address: {{mac}}
      subnets: [{ type: static, address: {{address}}, gateway: {{gateway}} }]
{{#each nameservers}}
    - { type: nameserver, address: [{{this}}] }
{{/each}}
`,
      userData: "machine: { network: { hostname: {{hostname}} } }\n",
    });
    expect(parse(files["network-config"]).network.config).toEqual([
      {
        type: "physical",
        name: "eth0",
        mac_address: "52:54:00:c1:00:01",
        subnets: [{ type: "static", address: "10.0.0.70/24", gateway: "10.0.0.1" }],
      },
      { type: "nameserver", address: ["10.0.0.1"] },
      { type: "nameserver", address: ["1.1.1.1"] },
    ]);
    expect(parse(files["user-data"] ?? "")).toEqual({ machine: { network: { hostname: "talos-cp-1" } } });
  });

  it.each([
    ["an unknown name", { networkConfig: "version: {{nope}}\n" }, /template network-config: "nope" not defined/],
    ["a way to the prototype", { metaData: "a: {{constructor.name}}\n" }, /template meta-data:/],
    ["an unknown helper", { metaData: "a: {{shell 'ls'}}\n" }, /template meta-data:/],
    ["a broken template", { metaData: "a: {{#if}\n" }, /template meta-data:/],
    ["a version that Talos does not read", { networkConfig: "version: 3\n" }, /found version 3, expected 1 or 2/],
    ["version 1 without config", { networkConfig: "version: 1\n" }, /no list at config/],
    ["an entry that Talos does not read", { networkConfig: "version: 1\nconfig: [{ type: loop }]\n" }, /type loop/],
    ["version 2 without links", { networkConfig: "version: 2\n" }, /none of ethernets/],
    ["meta-data without a name", { metaData: "instance-id: {{instanceId}}\n" }, /no text at local-hostname/],
    ["a value in quotes", { metaData: 'instance-id: "{{instanceId}}"\n' }, /meta-data/],
    ["two documents", { networkConfig: "version: 2\n---\nversion: 2\n" }, /expected one mapping/],
    ["user-data that Talos ignores", { userData: "#cloud-config\nruncmd: []\n" }, /#cloud-config, which Talos ignores/],
  ])("refuses %s", (_, templates, message) => {
    expect(() => renderNoCloud(machine, templates)).toThrow(message);
  });

  it("lets no text whatever add a key or change another value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const odd = { hostname: text, instanceId: text, mac: text, address: text, gateway: text, nameservers: [text] };
        const files = renderNoCloud(odd);
        expect(parse(files["meta-data"])).toEqual({ "instance-id": text, "local-hostname": text });
        const link = {
          match: { macaddress: text },
          dhcp4: false,
          addresses: [text],
          routes: [{ to: "default", via: text }],
          nameservers: { addresses: [text] },
        };
        expect(parse(files["network-config"])).toEqual({ version: 2, ethernets: { eth0: link } });
        // Our own templates are not checked at every run, because they pass whatever is in them.
        expect(renderNoCloud(odd, defaultTemplates)).toEqual(files);
      }),
      { examples: [["a\nruncmd: [x]"], ["'"], ["{{x}}"], ["\u0085\u2028\ufeff"], ["# no"], ["\u0000"], [""]] },
    );
  });
});

describe("fillTemplate", () => {
  it("writes lists and mappings whole, and walks them", () => {
    const values = { list: ["a", "b: c"], map: { x: "1", y: 2 }, flag: true, off: false, none: null };
    const template =
      "list: {{list}}\nmap: {{map}}\nx: {{map.x}}\nflag: {{flag}}\n{{#if off}}off: 1\n{{/if}}{{#if none}}none: 1\n{{/if}}";
    expect(parse(fillTemplate(template, "test", values))).toEqual({
      list: ["a", "b: c"],
      map: { x: "1", y: 2 },
      x: "1",
      flag: true,
    });
  });

  it("takes the unescaped form of Handlebars as no way around the escaping", () => {
    expect(parse(fillTemplate("a: {{{v}}}\n", "test", { v: "x\nb: 1" }))).toEqual({ a: "x\nb: 1" });
  });
});
