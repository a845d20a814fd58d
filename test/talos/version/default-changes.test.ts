// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { diffConfigs, generateMachineConfig, MachineConfig } from "../../../talos/config/index.ts";
import { Contract } from "../../../talos/version/index.ts";
import { clusterOf, secrets } from "../config/golden-secrets.ts";

const configOf = (contract: Contract): string =>
  generateMachineConfig(clusterOf(contract.toString(), { kubernetesVersion: "1.34.0", installImage: "i:1" }), secrets, {
    type: "controlplane",
    hostname: "m-1",
  });
const contracts = Contract.all();
const pairs = contracts.slice(1).map((newer, index) => [contracts[index] ?? newer, newer] as const);

describe.each(pairs)("from contract %s to %s", (older, newer) => {
  const changes = newer.newDefaultsSince(older);

  test("what a generated config has in addition is listed as a new default, and nothing else is", () => {
    const added = diffConfigs(new MachineConfig(configOf(older)), new MachineConfig(configOf(newer))).filter(
      ({ kind }) => kind === "added",
    );
    const documents = new Set(added.map(({ document }) => document));
    expect([...documents].sort()).toEqual(changes.map(({ document }) => document).sort());
  });

  test("each setting is what the generated document has", () => {
    const documents = parseAllDocuments(configOf(newer)).map((document) => document.toJS());
    for (const { document, setting } of changes) {
      const [kind, name] = document.split("/");
      const found = documents.find(
        (data) => (kind === "v1alpha1" ? data.version : data.kind) === kind && data.name === name,
      );
      expect(found).toMatchObject(parse(setting));
    }
  });
});

test("new defaults add up over several contracts, and none come with the same or an older one", () => {
  const [oldest, newest] = [contracts.at(0), contracts.at(-1)];
  if (oldest === undefined || newest === undefined) throw new Error("no contracts");
  expect(newest.newDefaultsSince(oldest)).toEqual(pairs.flatMap(([older, newer]) => newer.newDefaultsSince(older)));
  expect(newest.newDefaultsSince(newest)).toEqual([]);
  expect(oldest.newDefaultsSince(newest)).toEqual([]);
});
