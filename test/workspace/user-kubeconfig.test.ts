// SPDX-License-Identifier: Apache-2.0
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  mergeIntoUserKubeconfig,
  mergeKubeconfig,
  removeFromUserKubeconfig,
  withoutKubeconfig,
} from "../../workspace/user-kubeconfig.ts";

/** As Talos writes it. */
const cluster = (name: string, ca = "Q0E=") => `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: https://127.0.0.2:6443
    certificate-authority-data: ${ca}
users:
- name: admin@${name}
  user:
    client-certificate-data: Q1JU
    client-key-data: S0VZ
contexts:
- context:
    cluster: ${name}
    namespace: default
    user: admin@${name}
  name: admin@${name}
current-context: admin@${name}
`;

const others = `apiVersion: v1
kind: Config
preferences: {}
current-context: work
contexts:
- name: work
  context: {cluster: work, user: work}
clusters:
- name: work
  cluster: {server: "https://work:6443", insecure-skip-tls-verify: true}
users:
- name: work
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args: ["eks", "1.10", "yes", "0123"]
      env: null
`;

describe("a kubeconfig that is merged", () => {
  test("is itself where there is none yet, or an empty one", () => {
    for (const before of ["", "\n# nothing\n"])
      expect(parse(mergeKubeconfig(before, cluster("local"), "x").text)).toEqual(parse(cluster("local")));
  });

  test("keeps what is there to the letter of its values, and becomes the current context", () => {
    const { text, context } = mergeKubeconfig(others, cluster("local"), "x");
    const merged = parse(text);
    expect(context).toBe("admin@local");
    expect(merged["current-context"]).toBe("admin@local");
    expect(merged.users[0]).toEqual(parse(others).users[0]);
    expect(merged.clusters[0]).toEqual(parse(others).clusters[0]);
    expect(merged.preferences).toEqual({});
    expect(merged.contexts.map(({ name }: { name: string }) => name)).toEqual(["work", "admin@local"]);
  });

  test("takes the place of an earlier one of the same name", () => {
    const before = mergeKubeconfig(others, cluster("local", "T0xE"), "x").text;
    const merged = parse(mergeKubeconfig(before, cluster("local"), "x").text);
    expect(merged.clusters).toHaveLength(2);
    expect(merged.clusters[1].cluster["certificate-authority-data"]).toBe("Q0E=");
  });

  test("is removed again, and nothing else", () => {
    const merged = mergeKubeconfig(others, cluster("local"), "x").text;
    const left = parse(withoutKubeconfig(merged, cluster("local"), "x") ?? "");
    expect(left).toEqual({ ...parse(others), "current-context": "" });
    const current = merged.replace("current-context: admin@local", "current-context: work");
    expect(parse(withoutKubeconfig(current, cluster("local"), "x") ?? "")).toEqual(parse(others));
  });

  test("is left alone where its name is another cluster's", () => {
    const merged = mergeKubeconfig(others, cluster("local", "T1RIRVI="), "x").text;
    expect(withoutKubeconfig(merged, cluster("local"), "x")).toBeUndefined();
    expect(withoutKubeconfig(others, cluster("local"), "x")).toBeUndefined();
  });

  test.each(["a: [", "- list", "clusters: text"])("is not merged into what is no kubeconfig: %s", (text) => {
    expect(() => mergeKubeconfig(text, cluster("local"), "/home/ann/.kube/config")).toThrow("/home/ann/.kube/config");
  });
});

describe("the kubeconfig of the user", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "talosmith-kubeconfig-"));
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const at = (name: string) => join(home, name);
  const contexts = (path: string): string[] =>
    parse(readFileSync(path, "utf8")).contexts.map(({ name }: { name: string }) => name);

  test("is ~/.kube/config, readable by the user alone", async () => {
    const where = { env: { HOME: home }, cwd: home };
    expect(await mergeIntoUserKubeconfig(cluster("local"), where)).toEqual({
      path: at(".kube/config"),
      context: "admin@local",
    });
    expect(statSync(at(".kube/config")).mode & 0o777).toBe(0o600);
    expect(existsSync(at(".kube/config.lock"))).toBe(false);
    expect(await removeFromUserKubeconfig(cluster("local"), where)).toEqual([at(".kube/config")]);
    expect(await removeFromUserKubeconfig(cluster("local"), where)).toEqual([]);
  });

  test("is the first file of KUBECONFIG that exists, else the last; it is removed from all", async () => {
    const where = { env: { HOME: home, KUBECONFIG: `${at("a")}::${at("b")}` }, cwd: home };
    expect((await mergeIntoUserKubeconfig(cluster("one"), where)).path).toBe(at("b"));
    writeFileSync(at("a"), others);
    expect((await mergeIntoUserKubeconfig(cluster("one"), where)).path).toBe(at("a"));
    expect(contexts(at("a"))).toEqual(["work", "admin@one"]);
    expect(await removeFromUserKubeconfig(cluster("one"), where)).toEqual([at("a"), at("b")]);
    expect(contexts(at("a"))).toEqual(["work"]);
  });

  test("may be a link, which stays one, or a file that is named", async () => {
    mkdirSync(at("dotfiles"));
    writeFileSync(at("dotfiles/config"), others);
    symlinkSync(at("dotfiles/config"), at("config"));
    const where = { env: { HOME: home }, cwd: home };
    await mergeIntoUserKubeconfig(cluster("local"), { ...where, path: "config" });
    expect(contexts(at("dotfiles/config"))).toEqual(["work", "admin@local"]);
  });

  test("is not written while kubectl writes it", async () => {
    mkdirSync(at(".kube"));
    writeFileSync(at(".kube/config.lock"), "");
    const merge = mergeIntoUserKubeconfig(cluster("local"), { env: { HOME: home }, cwd: home });
    await expect(merge).rejects.toThrow("config.lock");
    expect(existsSync(at(".kube/config"))).toBe(false);
    expect(existsSync(at(".kube/config.lock"))).toBe(true);
  });
});
