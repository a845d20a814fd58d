// SPDX-License-Identifier: Apache-2.0

/** Code whose tests are tested: each change to `sources` that a machine makes must fail one of `tests`. */
export interface MutationTarget {
  readonly name: string;
  readonly sources: readonly string[];
  /** Fast ones only: they run once for each of hundreds of changes. */
  readonly tests: readonly string[];
}

export const mutationTargets: readonly MutationTarget[] = [
  {
    name: "msgpack",
    sources: ["msgpack", "value-codec"].map((file) => `provider/protocol/${file}.ts`),
    tests: ["test/provider/protocol/value-forms.test.ts"],
  },
  {
    name: "iso",
    sources: ["iso", "iso-bytes", "read-iso"].map((file) => `cloud-init/${file}.ts`),
    tests: ["test/cloud-init/iso-layout.test.ts"],
  },
  {
    name: "patch",
    sources: ["apply", "delete-directive", "merge"].map((file) => `talos/config/patch/${file}.ts`),
    tests: ["test/talos/config/patch.test.ts", "test/talos/config/strategic-patch.test.ts"],
  },
  {
    name: "json-patch",
    sources: ["talos/config/patch/json-patch.ts"],
    tests: ["test/talos/config/json-patch.test.ts", "test/talos/config/patch.test.ts"],
  },
  {
    name: "quorum",
    sources: ["engine/plan/quorum.ts"],
    tests: ["test/engine/quorum.test.ts"],
  },
  {
    name: "planner",
    sources: ["plan", "first-contact", "plan-builder", "plan-leaving"].map((part) => `engine/plan/${part}.ts`),
    tests: ["joining", "kubernetes", "leaving"].map((part) => `test/engine/plan-${part}.test.ts`),
  },
  {
    name: "rollout",
    sources: ["-caution", "-kubernetes", "-rollout"].map((part) => `engine/plan/plan${part}.ts`),
    tests: ["kubernetes", "rollout"].map((part) => `test/engine/plan-${part}.test.ts`),
  },
  {
    name: "addresses",
    sources: ["model/environment/cidr.ts"],
    tests: ["test/model/environment/cidr.test.ts"],
  },
];
