// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { parseEnvironment } from "../../../model/index.ts";

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
    expect(() =>
      parse("infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: {}\n", running),
    ).toThrow(
      /environments\/lab\.yaml:1:25: infrastructure\.kind[\s\S]*expected simulated, which the running cluster has/,
    );
  });

  it("is known to be on metal when its state has a cluster and no machines", () => {
    const metal = state([resource("talosmith_cluster", { dns_domain: null }), resource("talosmith_member")]);
    expect(() => parse(simulated, metal)).toThrow(/expected metal, which the running cluster has/);
  });

  it("may have resources of other providers beside its machines, which somebody has added to its stack", () => {
    const metal = `infrastructure:
  kind: metal
  trustOnFirstUse: true
  machines: { a: { address: 10.0.0.1, role: controlplane, disk: /dev/sda } }
`;
    const member = resource("talosmith_member", { machine_id: "10.0.0.1", address: "10.0.0.1" });
    const others = [resource("aws_route53_record"), resource("docker_container")];
    const cluster = resource("talosmith_cluster", { dns_domain: null });
    expect(parse(metal, state([cluster, member, ...others])).kind).toBe("metal");
    const docker = "infrastructure: { kind: container, engine: docker, trustOnFirstUse: true }\ncontrolPlane: {}\n";
    const volume = resource("docker_volume", { id: "lab-cp-1-state" });
    const inDocker = resource("talosmith_member", { machine_id: "lab-cp-1-state", address: "10.5.0.2" });
    expect(parse(docker, state([cluster, inDocker, volume, resource("aws_s3_bucket")])).kind).toBe("container");
    const pods = "infrastructure: { kind: container, engine: kubernetes, trustOnFirstUse: true }\ncontrolPlane: {}\n";
    const set = resource("kubernetes_stateful_set_v1", { metadata: [{ uid: "0c5b" }] });
    const inPod = resource("talosmith_member", { machine_id: "0c5b", address: "10.96.0.9" });
    expect(parse(pods, state([cluster, inPod, set, resource("aws_s3_bucket")])).kind).toBe("container");
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

  describe("keeps its config contract through an upgrade of Talos", () => {
    const file = (cluster: string) => `${simulated}cluster: { talosVersion: v1.14.1${cluster} }\n`;
    const deployed = (attributes: object) =>
      state([resource("talosmith_simulated_machine"), resource("talosmith_cluster", attributes)]);
    const contract = (yaml: string, text: string) => parse(yaml, text).cluster.configContract;

    it.each([
      ["that of its state", { talos_version: "v1.13.9", config_contract: "v1.12" }, "v1.12"],
      ["of a state that has none, that of its Talos version", { talos_version: "v1.13.9" }, "v1.13"],
    ])("where the file does not set it: %s", (_, attributes, expected) => {
      expect(contract(file(""), deployed(attributes))).toBe(expected);
    });

    it("where it was deployed without Terraform", () => {
      const files: Readonly<Record<string, string>> = {
        "environments/lab.yaml": file(""),
        "state/lab.machines.json": JSON.stringify({ v: 1, contract: "v1.12", machines: [] }),
      };
      expect(parseEnvironment("lab", (path) => files[path]).cluster.configContract).toBe("v1.12");
    });

    it("where it was deployed without Terraform, as long as one of the machines of the record is there", () => {
      const machine = "generated/.simulator/machines/a.json";
      const record = {
        v: 1,
        contract: "v1.12",
        machines: [],
        countsWith: ["generated/.simulator/machines/b.json", machine],
      };
      const files: Readonly<Record<string, string>> = {
        "environments/lab.yaml": file(", configContract: v1.13"),
        "state/lab.machines.json": JSON.stringify(record),
      };
      const others: Readonly<Record<string, string>> = { ...files, [machine]: "{}" };
      expect(() => parseEnvironment("lab", (path) => others[path])).toThrow(
        /environments\/lab\.yaml:3:\d+: cluster\.configContract[\s\S]*found v1\.13\n\s+expected v1\.12, which/,
      );
      expect(parseEnvironment("lab", (path) => files[path]).cluster.configContract).toBe("v1.13");
    });

    it("each Terraform workspace by its own state", () => {
      const stack = "cdktf.out/stacks/lab";
      const files: Record<string, string> = {
        "environments/lab.yaml": file(""),
        "state/lab.tfstate": deployed({ config_contract: "v1.12" }),
        [`${stack}/terraform.tfstate.d/blue/terraform.tfstate`]: deployed({ config_contract: "v1.13" }),
      };
      const contractIn = (env: Readonly<Record<string, string>>) =>
        parseEnvironment(
          "lab",
          Object.assign((path: string) => files[path], { env }),
        ).cluster.configContract;
      expect(contractIn({})).toBe("v1.12");
      expect(contractIn({ TF_WORKSPACE: "blue" })).toBe("v1.13");
      expect(contractIn({ TF_WORKSPACE: "new" })).toBe("v1.14");
      files[`${stack}/.terraform/environment`] = "blue\n";
      expect(contractIn({})).toBe("v1.13");
      expect(contractIn({ TF_WORKSPACE: "default" })).toBe("v1.12");
    });

    it("and a new cluster gets that of its Talos version", () => {
      expect(contract(file(""), "")).toBe("v1.14");
    });

    it("and refuses another one, unless it was migrated from the one that it has", () => {
      const text = deployed({ talos_version: "v1.13.9", config_contract: "v1.13" });
      expect(() => contract(file(", configContract: v1.14"), text)).toThrow(
        /cluster\.configContract[\s\S]*found v1\.14\n\s+expected v1\.13, which the running cluster has[\s\S]*talosmith config migrate lab --to v1\.14/,
      );
      expect(() => contract(file(", configContract: v1.12"), text)).toThrow(
        /Set it to v1\.13: there is no way back to an older contract/,
      );
      expect(contract(file(", configContract: v1.14, previousContract: v1.13"), text)).toBe("v1.14");
      expect(() => contract(file(", configContract: v1.14, previousContract: v1.12"), text)).toThrow(/expected v1\.13/);
    });
  });
});
