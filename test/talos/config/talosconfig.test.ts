// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemEntropy } from "../../../talos/clock.ts";
import {
  changeContext,
  contextOf,
  encodeTalosconfig,
  findTalosconfig,
  generateTalosconfig,
  matchingContexts,
  mergeTalosconfigs,
  parseTalosconfig,
  readTalosconfig,
  removeContexts,
  selectContext,
  talosAccess,
  talosconfigIsCurrent,
  talosconfigPaths,
  writeTalosconfig,
} from "../../../talos/config/index.ts";
import { secrets } from "./golden-secrets.ts";

const clock = { now: () => new Date("2026-11-16T08:00:00Z") };
const made = generateTalosconfig(secrets, { clusterName: "golden", endpoints: [], clock, entropy: systemEntropy });
const goldenPath = new URL("../../golden/config/1.13/current/default/talosconfig", import.meta.url);

describe("a generated talosconfig", () => {
  test("has the form of talosctl's, apart from its fresh certificate", () => {
    const masked = (text: string): string => text.replace(/(crt|key): \S+/g, "$1: …");
    expect(masked(encodeTalosconfig(made))).toBe(masked(readFileSync(goldenPath, "utf8")));
  });

  test("holds a client certificate for one year, which machines take whose clock is up to an hour behind, signed by the Talos CA, for os:admin and client use only", () => {
    const certificate = new X509Certificate(made.contexts.get("golden")?.credentials?.certificate ?? "");
    const ca = new X509Certificate(secrets.certs.os.certificate);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.subject).toBe("O=os:admin");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect([certificate.validFrom, certificate.validTo]).toEqual([
      "Nov 16 07:00:00 2026 GMT",
      "Nov 16 08:00:00 2027 GMT",
    ]);
  });

  test("can be for other roles and another lifetime", () => {
    const config = generateTalosconfig(secrets, {
      clusterName: "demo",
      endpoints: ["10.5.0.2"],
      nodes: ["10.5.0.3"],
      roles: ["os:reader", "os:etcd:backup"],
      ttl: 3_600_000,
      clock,
      entropy: systemEntropy,
    });
    const context = contextOf(config);
    const certificate = new X509Certificate(context.credentials?.certificate ?? "");
    expect(certificate.subject.split(/[\n+]+/).map((part) => part.trim())).toEqual(["O=os:reader", "O=os:etcd:backup"]);
    expect(certificate.validTo).toBe("Nov 16 09:00:00 2026 GMT");
    expect(context).toMatchObject({ endpoints: ["10.5.0.2"], nodes: ["10.5.0.3"] });
  });

  test("cannot live for no time", () => {
    const options = { clusterName: "x", endpoints: [], ttl: 0, clock, entropy: systemEntropy };
    expect(() => generateTalosconfig(secrets, options)).toThrow("crt_ttl should be positive");
  });

  test("reads back the same", () => {
    expect(parseTalosconfig(encodeTalosconfig(made), "talosconfig")).toEqual(made);
  });
});

describe("contexts", () => {
  const named = (name: string, endpoint: string) => ({
    context: name,
    contexts: new Map([[name, { endpoints: [endpoint] }]]),
  });

  test("that collide get a number, and the merged file's context becomes current", () => {
    const once = mergeTalosconfigs(named("prod", "1.1.1.1"), named("prod", "2.2.2.2"));
    expect(once.renames).toEqual([{ from: "prod", to: "prod-1" }]);
    const twice = mergeTalosconfigs(once.config, named("prod", "3.3.3.3"));
    expect([...twice.config.contexts.keys()]).toEqual(["prod", "prod-1", "prod-2"]);
    expect(twice.config.context).toBe("prod-2");
    expect(contextOf(twice.config).endpoints).toEqual(["3.3.3.3"]);
  });

  test("can be chosen, changed and removed", () => {
    const { config } = mergeTalosconfigs(named("a", "1.1.1.1"), named("b", "2.2.2.2"));
    expect(selectContext(config, "a").context).toBe("a");
    expect(contextOf(changeContext(config, "a", { nodes: ["9.9.9.9"] }), "a")).toEqual({
      endpoints: ["1.1.1.1"],
      nodes: ["9.9.9.9"],
    });
    expect(removeContexts(config, ["b"])).toEqual({
      context: "",
      contexts: new Map([["a", { endpoints: ["1.1.1.1"] }]]),
    });
    expect(() => selectContext(config, "c")).toThrow('context "c" is not defined');
  });

  test("of old files name their endpoint as target, which comes last", () => {
    const text = "context: old\ncontexts:\n  old:\n    target: 10.0.0.1\n    endpoints: [10.0.0.2]\n";
    expect(contextOf(parseTalosconfig(text, "f")).endpoints).toEqual(["10.0.0.2", "10.0.0.1"]);
  });

  test("keep what is of no use to us: parts of credentials and other ways to log in", () => {
    const text = [
      "context: b",
      "contexts:",
      "    b:",
      "        endpoints: []",
      "        ca: aGFsbG8=",
      "        auth:",
      "            basic:",
      "                username: me",
      "                password: p:w",
      "            siderov1:",
      "                identity: me@example.org",
      "        cluster: c",
      "",
    ].join("\n");
    expect(encodeTalosconfig(parseTalosconfig(text, "f"))).toBe(text);
  });

  test.each([
    ["contexts:\n  a:\n    crt: '***'\n", "f:3:10: found no base64 under crt"],
    ["contexts:\n  a:\n    endpoints: {}\n", "f:3:16: found no list under endpoints"],
    ["contexts: [a]\n", "f:1:11: found no map under contexts"],
    ["- a\n", "f:1:1: found no map, expected a talosconfig"],
  ])("%j is refused with its place", (text, message) => {
    expect(() => parseTalosconfig(text, "f")).toThrow(message);
  });

  test.each([
    ["prod*", ["prod", "prod-1"]],
    ["*1", ["prod-1"]],
    ["a.b", ["a.b"]],
    ["*", ["a.b", "axb", "prod", "prod-1"]],
    ["", []],
  ])("are matched by %j: %j", (pattern, names) => {
    const contexts = new Map(["prod", "prod-1", "a.b", "axb"].map((name) => [name, { endpoints: [] }]));
    expect(matchingContexts({ context: "", contexts }, pattern)).toEqual(names);
  });
});

describe("the file", () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "talosmith-home-"));
  });
  afterAll(() => rmSync(home, { recursive: true }));

  test("is looked for in talosctl's order", () => {
    expect(talosconfigPaths({ TALOSCONFIG: "/a/b", HOME: "/home/me" })).toEqual([
      "/a/b",
      "/home/me/.talos/config",
      "/var/run/secrets/talos.dev/config",
    ]);
    expect(talosconfigPaths({ TALOS_HOME: "/t", HOME: "/home/me" })[0]).toBe("/t/config");
    expect(talosconfigPaths({ TALOS_HOME: "t", HOME: "/home/me" })[0]).toBe("/home/me/.talos/config");
  });

  test("is found in the home folder, unless another one is named", async () => {
    mkdirSync(join(home, ".talos"));
    writeFileSync(join(home, ".talos/config"), "context: x\n");
    expect(await findTalosconfig({ HOME: home })).toBe(join(home, ".talos/config"));
    expect(await findTalosconfig({ HOME: home, TALOSCONFIG: "/named" })).toBe("/named");
  });

  test("stays a link when it is one", async () => {
    const [link, target] = [join(home, "link"), join(home, "target")];
    await writeTalosconfig(target, made);
    symlinkSync(target, link);
    await writeTalosconfig(link, { context: "", contexts: new Map() });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toBe('context: ""\ncontexts: {}\n');
  });

  test("that Kubernetes mounts is not ours to write", async () => {
    await expect(writeTalosconfig("/var/run/secrets/talos.dev/config", made)).rejects.toThrow("not allowed to write");
  });

  test("is private, and reads back the same", async () => {
    const path = join(home, "new/talosconfig");
    await writeTalosconfig(path, made);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await readTalosconfig(path)).toEqual(made);
    await expect(readTalosconfig(join(home, "none"))).rejects.toThrow(expect.objectContaining({ code: "not-found" }));
  });
});

describe("a talosconfig on disk", () => {
  const machine = (role: string, address: string) => ({ role, address, name: `${role}-${address}` });
  const [cp1, cp2, cp3] = [
    machine("controlplane", "10.0.0.1"),
    machine("controlplane", "10.0.0.2"),
    machine("controlplane", "10.0.0.3"),
  ];
  const worker = machine("worker", "10.0.0.9");
  const now = clock.now();
  const day = 86_400_000;
  const one = { machines: [cp1, worker] };
  const text = (cluster: Parameters<typeof talosAccess>[0], clusterName = "golden") =>
    encodeTalosconfig(
      generateTalosconfig(secrets, { clusterName, ...talosAccess(cluster), clock, entropy: systemEntropy }),
    );

  const aboutAll = encodeTalosconfig(
    generateTalosconfig(secrets, {
      clusterName: "golden",
      endpoints: ["10.0.0.1"],
      nodes: ["10.0.0.1", "10.0.0.9"],
      clock,
      entropy: systemEntropy,
    }),
  );

  test("connects to all control planes, or to what stands before them, and is about the first of them", () => {
    const machines = [worker, cp1, cp2, cp3];
    // `talosctl health`, `kubeconfig` and `bootstrap` refuse a context with several.
    const nodes = ["10.0.0.1"];
    expect(talosAccess({ machines })).toEqual({ endpoints: ["10.0.0.1", "10.0.0.2", "10.0.0.3"], nodes });
    expect(talosAccess({ machines, talosEndpoints: ["lb"] })).toEqual({ endpoints: ["lb"], nodes });
  });

  test.each([
    ["it is for the same machines", text(one), one, now, true],
    ["the order differs", text({ machines: [worker, cp2, cp1] }), { machines: [cp1, cp2, worker] }, now, true],
    ["it is about all machines, as talosmith once wrote it", aboutAll, one, now, false],
    ["control planes were added", text(one), { machines: [cp1, cp2, cp3, worker] }, now, false],
    ["a control plane has left", text({ machines: [cp1, cp2, worker] }), one, now, false],
    ["a worker has left", text(one), { machines: [cp1] }, now, true],
    ["a balancer stands before them now", text(one), { ...one, talosEndpoints: ["lb"] }, now, false],
    ["it is of another cluster", text(one, "other"), one, now, false],
    ["it ends soon", text(one), one, new Date(now.getTime() + 340 * day), false],
    ["it is broken", "context: golden", one, now, false],
    ["it is missing", "", one, now, false],
  ])("is kept or written again when %s", (_when, onDisk, cluster, at, current) => {
    const access = { clusterName: "golden", ...talosAccess(cluster) };
    expect(talosconfigIsCurrent(onDisk, access, secrets, at)).toBe(current);
  });
});
