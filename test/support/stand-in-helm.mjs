#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Stands in for helm in tests of our own logic: keeps releases in a file, and writes down how it was called. Of a chart in a
// folder it creates what templates/daemon-set.json says.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";

const file = process.env.STAND_IN_HELM;
const [command, ...args] = process.argv.slice(2);
const valuesOf = (flag) => args.flatMap((arg, i) => (arg === flag ? [args[i + 1]] : []));
const [flagOf] = [(flag) => valuesOf(flag)[0]];
const read = (path) => (path && existsSync(path) ? readFileSync(path, "utf8") : undefined);
const files = Object.fromEntries(
  ["--values", "--repository-config", "--registry-config"].map((flag) => [flag, valuesOf(flag).map(read)]),
);
appendFileSync(`${file}.calls`, `${JSON.stringify({ argv: process.argv.slice(2), files })}\n`);
const releases = JSON.parse(read(file) ?? "{}");
const save = () => writeFileSync(file, JSON.stringify(releases));
const fail = (words) => {
  process.stderr.write(`Error: ${words}\n`);
  process.exit(1);
};
const namespace = flagOf("--namespace");
const key = (name) => `${namespace}/${name}`;
const newest = (history) => history.at(-1);

/** POST with the first cluster and user of the kubeconfig that helm was given. */
function create(path, body) {
  const config = read(flagOf("--kubeconfig")) ?? "";
  const field = (name) => new RegExp(`${name}: (\\S+)`).exec(config)?.[1] ?? "";
  const decoded = (name) => Buffer.from(field(name), "base64").toString();
  const credentials = {
    ca: decoded("certificate-authority-data"),
    cert: decoded("client-certificate-data"),
    key: decoded("client-key-data"),
  };
  const headers = { "content-type": "application/json" };
  return new Promise((resolve) => {
    request(`${field("server")}${path}`, { method: "POST", headers, ...credentials }, (answer) => {
      if (![201, 409].includes(answer.statusCode)) fail(`${path}: ${answer.statusCode}`);
      answer.resume().on("end", resolve);
    })
      .on("error", (error) => fail(error.message))
      .end(body);
  });
}
const trouble = process.env.STAND_IN_HELM_TROUBLE;

switch (command) {
  case "repo":
    if (trouble === "repo") fail(`looks like the repository cannot be reached: 401 ${files["--repository-config"][0]}`);
    break;
  case "list": {
    const [label, hash] = (flagOf("--selector") ?? "").split("=");
    const name = flagOf("--filter")?.slice(1, -1);
    const found = Object.values(releases)
      .map(newest)
      .filter((r) => (name === undefined || r.name === name) && (namespace === undefined || r.namespace === namespace))
      .filter((r) => label === "" || (hash === undefined ? r.labels[label] : r.labels[label] === hash));
    process.stdout.write(JSON.stringify(found.map((r) => ({ ...r, revision: String(r.revision) }))));
    break;
  }
  case "history": {
    const history = releases[key(args[0])];
    if (history === undefined) fail("release: not found");
    process.stdout.write(JSON.stringify(history.map((r) => ({ ...r, updated: "now", description: "" }))));
    break;
  }
  case "upgrade": {
    const [name, chart] = args;
    const history = releases[key(name)] ?? [];
    if (newest(history)?.status.startsWith("pending"))
      fail("another operation (install/upgrade/rollback) is in progress");
    if (trouble === name) fail(`release ${name} failed, and has been rolled back due to atomic being set: timed out`);
    const labels = Object.fromEntries([flagOf("--labels").split("=")]);
    const old = history.map((r) => ({ ...r, status: r.status === "deployed" ? "superseded" : r.status }));
    const revision = history.length + 1;
    const made = {
      name,
      namespace,
      revision,
      status: "deployed",
      chart: `${chart}-${flagOf("--version") ?? "0"}`,
      labels,
    };
    const daemonSet = read(`${chart}/templates/daemon-set.json`);
    const slow = Number(process.env.STAND_IN_HELM_SLOW ?? 0);
    if (slow > 0) {
      // As helm does it: whoever kills it leaves the release pending.
      releases[key(name)] = [...history, { ...made, status: revision === 1 ? "pending-install" : "pending-upgrade" }];
      save();
      process.once("SIGTERM", () => {
        // `--atomic`: it goes back before it ends, which takes a while.
        setTimeout(() => {
          if (revision === 1) delete releases[key(name)];
          else releases[key(name)] = [...old, { ...history.at(-1), revision: revision + 1, status: "deployed" }];
          save();
          fail(`release ${name} failed: context canceled`);
        }, 300);
      });
      await new Promise((done) => setTimeout(done, slow));
    }
    if (daemonSet !== undefined) await create(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, daemonSet);
    releases[key(name)] = [...old, made];
    save();
    break;
  }
  case "rollback": {
    const [name, to] = args;
    const history = releases[key(name)];
    const wanted = history.find(({ revision }) => revision === Number(to)) ?? history.at(-2);
    history.push({ ...wanted, revision: history.length + 1, status: "deployed" });
    save();
    break;
  }
  case "uninstall":
    delete releases[key(args[0])];
    save();
    break;
  default:
    fail(`unknown command ${command}`);
}
