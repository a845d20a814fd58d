// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { redacted, secretsInPatch } from "../../../talos/config/index.ts";

const certain = (path: string) => ({ path, certain: true });

describe("secrets in a patch", () => {
  test.each<[string, string, readonly { path: string; certain: boolean }[]]>([
    ["nothing secret", "machine: { sysctls: { vm.swappiness: '1' } }", []],
    [
      "a registry's password",
      "machine: { registries: { config: { r.example: { auth: { username: u, password: p } } } } }",
      [certain("machine.registries.config.r.example.auth.password")],
    ],
    [
      "a key in a list",
      "machine: { network: { interfaces: [{ interface: eth0 }, { interface: wg0, wireguard: { privateKey: k } }] } }",
      [certain("machine.network.interfaces[1].wireguard.privateKey")],
    ],
    [
      "a document of its own",
      "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: r.example\nusername: u\npassword: p\n",
      [certain("RegistryAuthConfig/r.example password")],
    ],
    ["a value that was hidden before", `machine: { token: "${redacted}" }`, []],
    [
      "a JSON patch that sets one field",
      '[{"op":"add","path":"/machine/registries/config/r~1x/auth/password","value":"p"}]',
      [certain("machine.registries.config.r/x.auth.password")],
    ],
    [
      "a JSON patch that sets a whole section",
      '[{"op":"replace","path":"/machine/registries","value":{"config":{"r":{"auth":{"auth":"x"}}}}}]',
      [certain("machine.registries.config.r.auth.auth")],
    ],
    ["a JSON patch that removes", '[{"op":"remove","path":"/machine/token"}]', []],
    [
      "a password in a URL",
      "machine: {env: {http_proxy: 'http://me:x@proxy:3128', no_proxy: 'localhost,https://a@b'}}",
      [certain("machine.env.http_proxy")],
    ],
    [
      "a variable that may be secret",
      "machine: {env: {GODEBUG: x, SOME: x, OTHER: 'http://me:x@y'}}",
      [{ path: "machine.env.SOME", certain: false }, certain("machine.env.OTHER")],
    ],
    [
      "what may be secret",
      "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: tailscale\nenvironment: [TS_AUTHKEY=x]\n",
      [{ path: "ExtensionServiceConfig/tailscale environment", certain: false }],
    ],
  ])("%s", (_, patch, expected) => {
    const found = secretsInPatch(patch, "patch");
    expect(found.map(({ path, certain }) => ({ path, certain }))).toEqual(expected);
  });

  test("are found again by document and keys", () => {
    const deleted = "cluster: { proxy: { $patch: delete } }\n";
    const peers = "apiVersion: v1alpha1\nkind: WireguardConfig\nname: w\npeers: [{}, { presharedKey: k }]\n";
    expect(secretsInPatch(`${deleted}---\n${peers}`, "patch")).toEqual([
      { ...certain("WireguardConfig/w peers[1].presharedKey"), document: 1, keys: ["peers", 1, "presharedKey"] },
    ]);
  });

  test("never come with their values", () => {
    const found = secretsInPatch("machine: { token: hunter2 }", "patch");
    expect(found).toMatchObject([certain("machine.token")]);
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });
});
