// SPDX-License-Identifier: Apache-2.0
// Machines and clusters that are there before the project is: simulated ones, of which it knows the addresses alone.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { encodeSecrets, parseSecrets } from "../../talos/secrets/index.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { kubeadmPki, officialState, operatorObjects, talconfig } from "../support/foreign-cluster.ts";
import type { World } from "./walk.ts";
import { openProject, type ProjectOptions, terraform } from "./worlds.ts";

/** As `world`, with more to end than its own. */
const endingWith = (world: World, more: () => unknown): World => ({
  ...world,
  async close() {
    await more();
    await world.close();
  },
});

/** A world with machines in maintenance mode, in the place of those at these addresses. */
export async function withMachines(world: World, addresses: readonly string[], where?: string): Promise<World> {
  const elsewhere = where ?? join(world.shell.root, "../elsewhere");
  mkdirSync(elsewhere, { recursive: true });
  const put: Record<string, string> = { ...world.put };
  for (const address of addresses)
    put[address] = (
      await projectSimulator(elsewhere).createMachine({ name: `at-${address}`, cluster: "nobody" })
    ).address;
  return { ...endingWith(world, () => projectSimulator(elsewhere).shutdown()), put };
}

/** Changes an environment of the project, as a reader who puts in what is theirs. */
export function edit({ shell }: World, name: string, change: (file: Document) => void): void {
  const path = join(shell.root, "environments", `${name}.yaml`);
  const file = parseDocument(readFileSync(path, "utf8"));
  change(file);
  writeFileSync(path, file.toString());
}

/** An example about metal: a machine in the place of each that the environment names. */
export async function openMetalExample(name: string, options: ProjectOptions & { readonly inside?: boolean } = {}) {
  const opened = openProject({ from: `examples/${name}`, ...options });
  const path = join(opened.shell.root, "environments", `${name}.yaml`);
  const { infrastructure } = parseDocument(readFileSync(path, "utf8")).toJS() as {
    infrastructure: { machines: Record<string, { address: string; fingerprint?: string }> };
  };
  const addresses = Object.values(infrastructure.machines).map(({ address }) => address);
  // Simulated machines find each other only within one simulator.
  const place = options.inside ? opened.shell.root : join(opened.shell.root, "../elsewhere");
  const world = await withMachines(opened, addresses, place);
  const machines = await projectSimulator(place).listMachines();
  edit(world, name, (file) => {
    for (const [machine, { address, fingerprint }] of Object.entries(infrastructure.machines)) {
      const at = ["infrastructure", "machines", machine];
      const box = machines.find((each) => each.name === `at-${address}`);
      file.setIn([...at, "address"], box?.address);
      if (fingerprint !== undefined) file.setIn([...at, "fingerprint"], box?.fingerprint);
      // The simulator's machines have one disk, of this name.
      file.setIn([...at, "disk"], "/dev/sda");
      file.deleteIn([...at, "link"]);
    }
  });
  return world;
}

/** A running cluster that others made, with the files of each of their tools, and a project that knows nothing of it. */
export async function openForeign(): Promise<World> {
  const opened = openProject({ programs: { terraform } });
  const { shell } = opened;
  const theirs = join(shell.root, "../theirs");
  mkdirSync(join(theirs, "environments"), { recursive: true });
  writeFileSync(join(theirs, "cdktf.json"), "{}");
  writeFileSync(
    join(theirs, "environments/lab.yaml"),
    "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n",
  );
  const world = endingWith(opened, () => projectSimulator(theirs).shutdown());
  await shell.ok(`cd ${theirs} && npx talosmith up lab`);
  const addresses = (await projectSimulator(theirs).listMachines()).map(({ address }) => address);
  const [plane = "", worker = ""] = addresses;
  const bundle = parseSecrets(readFileSync(join(theirs, "secrets/lab.yaml"), "utf8"), "secrets/lab.yaml");
  const files = {
    "clusterconfig/secrets.yaml": encodeSecrets(bundle),
    "clusterconfig/talosconfig": readFileSync(join(theirs, "generated/lab/talosconfig"), "utf8"),
    "secrets.yaml": encodeSecrets(bundle),
    "talconfig.yaml": talconfig("lab", `https://${plane}:6443`, addresses),
    "talsecret.yaml": encodeSecrets(bundle),
    "terraform.tfstate": JSON.stringify(officialState(bundle, addresses)),
    "state.json": JSON.stringify(officialState(bundle, addresses)),
    "objects.yaml": operatorObjects(encodeSecrets(bundle), addresses),
    ...Object.fromEntries(Object.entries(kubeadmPki(bundle)).map(([name, text]) => [`pki/${name}`, text])),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(shell.root, name)), { recursive: true });
    writeFileSync(join(shell.root, name), text, { mode: 0o600 });
  }
  await shell.ok(`cd ${shell.root} && export TALOSCONFIG=${theirs}/generated/lab/talosconfig`);
  return { ...world, put: { ...world.put, "10.0.0.11": plane, "10.0.0.1": plane, "10.0.0.21": worker } };
}

/** A world with a server on loopback. */
export async function withServer(
  answer: Parameters<typeof createServer>[1],
  open: (url: string) => Promise<World>,
): Promise<World> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const world = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return endingWith(world, () => server.close());
}
