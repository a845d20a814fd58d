// SPDX-License-Identifier: Apache-2.0
// Actions on a cluster that the real terraform has made: by the protocol itself under every version, by the language of
// Terraform 1.14 and later where `TALOSMITH_TEST_TERRAFORMS` names one.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lt } from "semver";
import { afterAll, describe, expect, test } from "vitest";
import { Server, schemaOf, type Value } from "../../provider/framework/index.ts";
import {
  ActionRequest,
  ConfigureProviderRequest,
  type Diagnostic,
  InvokeActionEvent,
} from "../../provider/protocol/gen/tfplugin6.ts";
import { routes } from "../../provider/protocol/index.ts";
import { toDynamicValue } from "../../provider/protocol/value-codec.ts";
import { talosmithProvider } from "../../provider/types/index.ts";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { moreTerraforms } from "../support/more-terraforms.ts";
import { apply, underTools } from "../support/under-tools.ts";

interface Outcome {
  readonly progress: readonly string[];
  readonly errors: readonly string[];
}

/** The provider in this process, as terraform configures it in that folder. */
async function providerIn(workspace: ClusterWorkspace) {
  const provider = talosmithProvider({
    workingDirectory: workspace.directory,
    environment: {},
    daemonCommand: workspace.daemonCommand,
  });
  const server = new Server<unknown>(provider as never, () => undefined);
  const whole = (of: Parameters<typeof schemaOf>[0], values: Record<string, Value>) => {
    const { attributes, type } = schemaOf(of);
    const none = Object.fromEntries(Object.keys(attributes).map((name) => [name, null]));
    return toDynamicValue(type, { ...none, ...values });
  };
  const config = whole(server.provider, { secrets_file: "secrets.yaml" });
  const configure = ConfigureProviderRequest.encode({ terraformVersion: "1.15.0", config }).finish();
  await routes["/tfplugin6.Provider/ConfigureProvider"]?.(server, configure);
  return async (name: string, values: Record<string, Value>): Promise<Outcome> => {
    const actionType = `talosmith_${name}`;
    const request = { actionType, config: whole(server.action(actionType), values), clientCapabilities: undefined };
    const progress: string[] = [];
    const last = await routes["/tfplugin6.Provider/InvokeAction"]?.(
      server,
      ActionRequest.encode(request).finish(),
      (message) => {
        const { type } = InvokeActionEvent.decode(message);
        if (type?.$case === "progress") progress.push(type.value.message);
      },
    );
    const { type } = InvokeActionEvent.decode(last ?? new Uint8Array(0));
    const diagnostics: readonly Diagnostic[] = type?.$case === "completed" ? type.value.diagnostics : [];
    return { progress, errors: diagnostics.map(({ summary, detail }) => `${summary}: ${detail}`) };
  };
}

underTools("actions", ({ open }) => {
  test("do what they say on a running cluster, and say why they do not", async () => {
    const machines = {
      "cp-1": "controlplane",
      "cp-2": "controlplane",
      "cp-3": "controlplane",
      "w-1": "worker",
    } as const;
    const workspace = await open(clusterConfig({ machines }));
    await workspace.apply();
    const made = await workspace.simulator().listMachines();
    const addressOf = (name: string) => made.find((machine) => machine.name === name)?.address ?? "";
    const endpoints = ["cp-1", "cp-2", "cp-3"].map(addressOf);
    const invoke = await providerIn(workspace);
    const backups = { cluster_name: "test", directory: "backups" };

    const snapshot = await invoke("etcd_snapshot", { ...backups, endpoints });
    expect(snapshot).toMatchObject({
      progress: [expect.stringMatching(/^backup test-\d{8}T\d{6}Z-\w+ is in /)],
      errors: [],
    });
    expect(readdirSync(join(workspace.directory, "backups")).length).toBeGreaterThan(0);
    expect(await invoke("restore_drill", backups)).toMatchObject({ errors: [] });
    expect((await invoke("restore_drill", { ...backups, backup: "test-20200101T000000Z-abcd" })).errors).toHaveLength(
      1,
    );

    expect(await invoke("drain", { endpoints, machine: "w-1" })).toMatchObject({ errors: [] });
    const check = await invoke("upgrade_check", { endpoints, talos_version: "v1.14.1", kubernetes_version: "1.33.0" });
    expect(check.errors.join("\n")).toMatch(/kubernetes_version: /);
    expect(await invoke("uncordon", { endpoints, machine: "w-1" })).toMatchObject({ errors: [] });
    expect((await invoke("drain", { endpoints, machine: "w-9" })).errors).toEqual([
      expect.stringMatching(/No such machine: Found "w-9"; the cluster has cp-1, cp-2, cp-3, w-1/),
    ]);

    const rebooted = await invoke("reboot", { endpoints, machine: "cp-2" });
    expect(rebooted).toMatchObject({ errors: [] });
    expect(rebooted.progress.join("\n")).toMatch(/reboot cp-2[\s\S]*uncordon cp-2/);
    const defragmented = await invoke("etcd_defragment", { endpoints });
    expect(defragmented.progress).toHaveLength(3);
    const ready = await invoke("upgrade_check", { endpoints, talos_version: "v1.14.1" });
    expect(ready).toMatchObject({ progress: [expect.stringMatching(/^test can be upgraded: /)], errors: [] });

    const files = { cluster_name: "test", kubeconfig_path: "kubeconfig", talosconfig_path: "talosconfig" };
    const written = () => ["kubeconfig", "talosconfig"].map((file) => readFileSync(join(workspace.directory, file)));
    expect(await invoke("rotate_client_files", { ...files, endpoints })).toMatchObject({ errors: [] });
    const first = written();
    const rotated = await invoke("rotate_client_files", { ...files, endpoints });
    expect(rotated.progress).toEqual([expect.stringMatching(/^kubeconfig and talosconfig are written; valid until /)]);
    written().forEach((bytes, index) => {
      expect(bytes).not.toEqual(first[index]);
    });

    // With a member down, nothing that pauses another one is begun.
    const lost = [...endpoints.slice(0, 2), "127.255.255.254"];
    expect((await invoke("etcd_defragment", { endpoints: lost })).errors).toEqual([
      expect.stringMatching(/^etcd is not healthy: .*Nothing was defragmented/s),
    ]);
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});

const examples = join(import.meta.dirname, "..", "..", "examples", "provider", "actions");
const withActions = moreTerraforms.filter(({ version }) => !lt(version, "1.14.0"));

test.skipIf(withActions.length === 0)("TALOSMITH_TEST_TERRAFORMS names a Terraform that has actions", () =>
  expect(withActions).not.toEqual([]),
);

describe.each(withActions)("terraform $version", ({ path }) => {
  const workspaces: ClusterWorkspace[] = [];
  afterAll(() => Promise.all(workspaces.map((workspace) => workspace.dispose())));

  test.each(readdirSync(examples))("the example %s is valid, applied, and its action invoked", async (name) => {
    const text = readFileSync(join(examples, name), "utf8");
    const workspace = await ClusterWorkspace.open({ name: "terraform", path }, text, {
      provider: 'secrets_file = "secrets/demo.yaml"',
    });
    workspaces.push(workspace);
    expect((await workspace.run(["fmt", "-check", "main.tf"])).code, name).toBe(0);
    await workspace.apply();
    const address = `action.talosmith_${name.replace(/\.tf$/, "")}.example`;
    if (name === "restore_drill.tf") {
      const snapshot = readFileSync(join(examples, "etcd_snapshot.tf"), "utf8");
      workspace.write("snapshot.tf", snapshot.slice(snapshot.indexOf("action ")));
      await workspace.ok([...apply, "-invoke=action.talosmith_etcd_snapshot.example"]);
    }
    const { text: output } = await workspace.ok([...apply, `-invoke=${address}`]);
    expect(output).toContain("Action complete");
    await workspace.destroy();
  });

  test("an upgrade begins with a backup, and a plan after it is empty", async () => {
    const text = readFileSync(join(examples, "etcd_snapshot.tf"), "utf8").replaceAll("v1.13.9", "v1.12.11");
    const workspace = await ClusterWorkspace.open({ name: "terraform", path }, text.replace("1.36.3", "1.35.4"), {
      provider: 'secrets_file = "secrets/demo.yaml"',
    });
    workspaces.push(workspace);
    await workspace.apply();
    workspace.write("main.tf", text.replace("v1.12.11", "v1.13.9").replace("1.36.3", "1.35.4"));
    const { text: output } = await workspace.apply();
    const order = [
      "is in ",
      "talosmith_cluster.example: Modifying",
      "talosmith_cluster.example: Modifications complete",
    ];
    const places = order.map((word) => output.indexOf(word));
    expect(places, output).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});
