// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { doctor } from "../../../cli/actions/doctor.ts";
import { refuseMissingImages } from "../../../workspace/start-images.ts";
import { openWorkspace } from "../../../workspace/workspace.ts";
import { testContext } from "../../support/command-context.ts";
import { mayMount, mountTinyDisk, unmountDisk } from "../../support/tiny-disk.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-doctor-"));
  for (const folder of ["environments", "state"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments/lab.yaml"),
    "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n",
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function examine(state?: { text: string; mode: number }, path = root) {
  if (state !== undefined) writeFileSync(join(root, "state/lab.tfstate"), state.text, { mode: state.mode });
  writeFileSync(join(root, "terraform"), "#!/bin/sh\necho Terraform v1.11.4\n", { mode: 0o755 });
  const context = testContext({ cwd: root, env: { PATH: path } });
  await doctor("lab", { json: true }, context);
  const { findings } = JSON.parse(context.written.stdout) as {
    findings: { about: string; level: string; says: string }[];
  };
  return { findings, code: context.written.exitCode };
}

test("a project that was never deployed has nothing wrong with it", async () => {
  const { findings, code } = await examine();
  expect(code).toBe(0);
  expect(findings).toContainEqual({ about: "node", level: "ok", says: process.versions.node });
  expect(findings).toContainEqual({ about: "terraform", level: "ok", says: "Terraform v1.11.4" });
  expect(findings).toContainEqual({ about: "tofu", level: "note", says: "not on the PATH" });
  expect(findings).toContainEqual({ about: "lab: secrets", level: "ok", says: "none yet in secrets/lab.yaml" });
});

/** A state with one resource of this type. */
const stateWith = (type: string) => ({
  text: JSON.stringify({ version: 4, resources: [{ mode: "managed", type, name: "x", instances: [{}] }] }),
  mode: 0o600,
});

test.each([
  ["an empty state", { text: "", mode: 0o600 }, /is empty.*no good copy/s],
  ["a state that others can read", { text: '{"version":4}', mode: 0o644 }, /chmod 600/],
  ["a cluster without its secrets", stateWith("talosmith_cluster"), /is missing, but/],
])("%s is a fault with what to do", async (_, state, expected) => {
  const { findings, code } = await examine(state);
  expect(code).toBe(1);
  expect(findings.filter(({ level }) => level === "fault").map(({ says }) => says)).toEqual([
    expect.stringMatching(expected),
  ]);
});

test("a first deploy that was stopped before it had a cluster has lost no secrets", async () => {
  const { findings, code } = await examine(stateWith("talosmith_simulated_machine"));
  expect(findings).toContainEqual({ about: "lab: state", level: "ok", says: "whole, 1 resource" });
  expect(findings).toContainEqual({ about: "lab: secrets", level: "ok", says: "none yet in secrets/lab.yaml" });
  expect(code).toBe(0);
});

test.each([
  ["simulated", undefined, "lab is new: terraform manages it (state/lab.tfstate)."],
  ["simulated", stateWith("talosmith_simulated_machine"), "lab is managed by terraform (state/lab.tfstate)."],
  ["libvirt, trustOnFirstUse: true", undefined, "lab is new: terraform manages it (state/lab.tfstate)."],
] as const)("the manager of kind %s with state %j is named", async (kind, state, says) => {
  const text = `infrastructure: { kind: ${kind} }\ncontrolPlane: { count: 1 }\n`;
  writeFileSync(join(root, "environments/lab.yaml"), text);
  expect((await examine(state)).findings).toContainEqual({ about: "lab: manager", level: "ok", says });
});

test.each([
  ["simulated", undefined, undefined],
  ["simulated", stateWith("talosmith_simulated_machine"), "it is managed by Terraform"],
  ["libvirt, trustOnFirstUse: true", undefined, "machines of kind libvirt are created through Terraform"],
] as const)("without terraform on the PATH, kind %s with state %j is at fault: %s", async (kind, state, fault) => {
  const text = `infrastructure: { kind: ${kind} }\ncontrolPlane: { count: 1 }\n`;
  writeFileSync(join(root, "environments/lab.yaml"), text);
  const { findings, code } = await examine(state, "/nowhere");
  const missing = "neither terraform nor tofu is on the PATH";
  expect(findings).toContainEqual({ about: "terraform", level: "note", says: missing });
  expect(findings.find(({ about }) => about === "lab: manager")).toMatchObject(
    fault === undefined
      ? { level: "ok", says: "lab is new: talosmith manages it without Terraform." }
      : { level: "fault", says: expect.stringContaining(`lab: ${fault}, but ${missing}. Install`) },
  );
  if (fault !== undefined) expect(code).toBe(1);
});

const canMount = mayMount();
if (!canMount) console.warn("SKIPPED: a read-only disk found by the doctor: this user may not mount one");

test.skipIf(!canMount)("a folder on a read-only disk is a fault, also for root", async () => {
  expect((await examine()).findings).toContainEqual({
    about: "project",
    level: "ok",
    says: `${root} can be written to`,
  });
  const state = join(root, "state");
  mountTinyDisk(state, "ro");
  try {
    const { findings, code } = await examine();
    expect(code).toBe(1);
    expect(findings).toContainEqual({
      about: "project",
      level: "fault",
      says: expect.stringMatching(/state: read-only file system\. .*make it writable/),
    });
  } finally {
    unmountDisk(state);
  }
});

test.skipIf(process.getuid?.() === 0)("a folder that is somebody else's is a fault", async () => {
  chmodSync(join(root, "state"), 0o555);
  const { findings, code } = await examine();
  chmodSync(join(root, "state"), 0o755);
  expect(code).toBe(1);
  expect(findings).toContainEqual(expect.objectContaining({ about: "project", level: "fault" }));
});

test("a faulty environment file is a fault", async () => {
  writeFileSync(join(root, "environments/lab.yaml"), "infrastructure: { kind: simulated }\n");
  const { findings, code } = await examine();
  expect(code).toBe(1);
  expect(findings.at(-1)).toMatchObject({ about: "lab", level: "fault" });
});

test.each([
  ["before the first deploy a fault", undefined, "fault"],
  [
    "afterwards a note",
    { text: '{"version":4,"resources":[{"mode":"managed","type":"x","name":"y","instances":[{}]}]}', mode: 0o600 },
    "note",
  ],
] as const)("an image that is not there is %s, and a command that deploys warns", async (_, state, level) => {
  const image = (file: string) =>
    `infrastructure: { kind: libvirt, trustOnFirstUse: true, image: ${file} }\ncontrolPlane: { count: 1 }\n`;
  writeFileSync(join(root, "environments/lab.yaml"), image("images/own.qcow2"));
  const says = "images/own.qcow2 is not there: new virtual machines start from it";
  expect((await examine(state)).findings).toContainEqual({ about: "lab: image", level, says });
  const context = testContext({ cwd: root, env: {} });
  const workspace = openWorkspace("lab", context, { warn: true });
  expect(context.written.stderr).toContain("images/own.qcow2: the image that machines start from is not there");
  expect(() => refuseMissingImages(workspace)).toThrow("images/own.qcow2: the image");
  mkdirSync(join(root, "images"));
  writeFileSync(join(root, "images/own.qcow2"), "");
  expect((await examine(state)).findings.some(({ about }) => about === "lab: image")).toBe(false);
  expect(() => refuseMissingImages(workspace)).not.toThrow();
});

test("the host of virtual machines lacks what an apply would stop at", async () => {
  const infrastructure = "infrastructure: { kind: libvirt, trustOnFirstUse: true, storagePool: fast }";
  writeFileSync(join(root, "environments/lab.yaml"), `${infrastructure}\ncontrolPlane: { count: 1 }\n`);
  const virsh = (script: string) => writeFileSync(join(root, "virsh"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const ofHost = async () => (await examine()).findings.filter(({ about }) => about === "lab: host");
  virsh('[ "$3" = pool-list ] && echo default || echo net_br0_52_54_00_00_00_01; echo net_lo_00_00_00_00_00_00');
  const says = "storage pool fast is not active on qemu:///system";
  expect(await ofHost()).toEqual([{ about: "lab: host", level: "fault", says }]);
  virsh("echo fast; echo net_br0_52_54_00_00_00_01; echo net_lo_00_00_00_00_00_00");
  expect(await ofHost()).toMatchObject([{ level: "ok" }]);
  virsh("echo error: no such host >&2; exit 1");
  expect(await ofHost()).toMatchObject([{ level: "note", says: "not checked: error: no such host" }]);
});

test("virsh is looked for where machines are of kind libvirt, and for a plan that enlarges their disks", async () => {
  writeFileSync(
    join(root, "environments/lab.yaml"),
    "infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: { count: 1 }\n",
  );
  const { findings, code } = await examine();
  expect(findings).toContainEqual({
    about: "lab: virsh",
    level: "note",
    says: "not on the PATH: a deploy that enlarges disks needs it",
  });
  expect(code).toBe(0);
});
