// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { hardwareChanges, parsePlan } from "../../review/index.ts";

type Values = Record<string, unknown>;
type Row = readonly [address: string, actions: readonly string[], before: Values, after?: Values];

const planned = (rows: readonly Row[]) =>
  parsePlan(
    JSON.stringify({
      format_version: "1.2",
      resource_changes: rows.map(([address, actions, before, after = before]) => ({
        address,
        type: /([^.]+)\.[^.]+$/.exec(address)?.[1],
        change: { actions, before, after },
      })),
    }),
    "plan.json",
  );

const replace = ["delete", "create"];
const machines = (member: string) => ({
  machines: {
    "talos-w-1": { role: "worker", member_id: member },
    "talos-cp-1": { role: "controlplane", member_id: "c" },
  },
});
const cluster: Row = ["talosmith_cluster.cluster", ["update"], machines("m")];
const member = (key: string, id: string): Row => [
  `talosmith_member.x["${key}"]`,
  ["no-op"],
  { name: `talos-${key}`, machine_id: id },
];
const domain = (block: string, key: string): Row => [`${block}["${key}"]`, replace, { name: `talos-${key}` }];

describe("machines that a plan stops", () => {
  test("have all addresses of their pool and key, and no others", () => {
    const found = hardwareChanges(
      planned([
        cluster,
        member("w-1", "disk-1"),
        domain("libvirt_domain.worker", "w-1"),
        ['terraform_data.worker_hardware["w-1"]', replace, {}],
        ['terraform_data.worker_hardware["w-2"]', replace, {}],
        ['terraform_data.other_hardware["w-1"]', replace, {}],
        ['module.a.terraform_data.worker_hardware["w-1"]', replace, {}],
      ]),
    );
    expect(found).toEqual([
      {
        name: "talos-w-1",
        controlPlane: false,
        addresses: ['libvirt_domain.worker["w-1"]', 'terraform_data.worker_hardware["w-1"]'],
      },
    ]);
  });

  test.each<[string, readonly Row[], readonly string[]]>([
    ["a control plane", [cluster, member("cp-1", "d"), domain("libvirt_domain.cp", "cp-1")], ["talos-cp-1"]],
    ["one in a module", [cluster, member("w-1", "d"), domain("module.a.libvirt_domain.w", "w-1")], ["talos-w-1"]],
    [
      "a domain that is changed in place",
      [
        cluster,
        member("w-1", "d"),
        ['libvirt_domain.w["w-1"]', ["update"], { name: "talos-w-1", memory: 1 }, { name: "talos-w-1", memory: 2 }],
      ],
      ["talos-w-1"],
    ],
    [
      "not one that is replaced as a member",
      [
        ["talosmith_cluster.cluster", ["update"], machines("m"), machines("n")],
        member("w-1", "d"),
        domain("libvirt_domain.w", "w-1"),
      ],
      [],
    ],
    [
      "not one with a block of its own",
      [cluster, member("w-1", "d"), ["libvirt_domain.w", replace, { name: "talos-w-1" }]],
      [],
    ],
    ["not one that is no member", [cluster, domain("libvirt_domain.w", "w-1")], []],
  ])("%s", (_, rows, expected) => {
    expect(hardwareChanges(planned(rows)).map(({ name }) => name)).toEqual(expected);
  });
});
