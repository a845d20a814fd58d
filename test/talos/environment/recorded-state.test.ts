// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { parseEnvironment } from "../../../talos/environment/index.ts";

const state = (resources: readonly object[]) => JSON.stringify({ version: 4, resources });
const resource = (type: string, attributes: object = {}) => ({
  mode: "managed",
  type,
  name: "x",
  instances: [{ attributes }],
});
const parse = (yaml: string, stateText: string) =>
  parseEnvironment("lab", (file) => ({ "environments/lab.yaml": yaml, "state/lab.tfstate": stateText })[file]);

const simulated = "infrastructure: { kind: simulated }\ncontrolPlane: {}\n";
const running = state([resource("talosmith_simulated_machine"), resource("talosmith_cluster", { dns_domain: null })]);

describe("an environment whose cluster is running", () => {
  it("is accepted as it was", () => {
    expect(parse(simulated, running).kind).toBe("simulated");
  });

  it("cannot change its kind of infrastructure", () => {
    expect(() => parse("infrastructure: { kind: libvirt }\ncontrolPlane: {}\n", running)).toThrow(
      /environments\/lab\.yaml:1:25: infrastructure\.kind[\s\S]*expected simulated, which the running cluster has/,
    );
  });

  it("is known to be on metal when its state has a cluster and no machines", () => {
    const metal = state([resource("talosmith_cluster", { dns_domain: null }), resource("talosmith_member")]);
    expect(() => parse(simulated, metal)).toThrow(/expected metal, which the running cluster has/);
  });

  it("cannot change its domain, in either direction", () => {
    expect(() => parse(`${simulated}cluster: { domain: k8s.local }\n`, running)).toThrow(
      /cluster\.domain[\s\S]*expected cluster\.local/,
    );
    const other = state([resource("talosmith_cluster", { dns_domain: "k8s.local" })]);
    expect(() => parse(simulated, other)).toThrow(/expected k8s\.local, which the running cluster has/);
  });

  it.each([
    ["no state", ""],
    ["an empty state", state([])],
    ["a state that cannot be read", "{"],
    ["a state whose resources are gone", state([{ mode: "managed", type: "aws_instance", name: "x", instances: [] }])],
  ])("is free to be anything with %s", (_, text) => {
    expect(parse(simulated, text).kind).toBe("simulated");
  });
});
