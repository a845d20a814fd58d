// SPDX-License-Identifier: Apache-2.0

export interface Trap {
  readonly what: string;
  /** Tests by file, relative to `test/`, and title. Empty: none yet, and `missing` says why. */
  readonly tests: readonly (readonly [file: string, title: string])[];
  readonly missing?: string;
}

const acceptance = {
  cluster: "acceptance/provider-cluster.test.ts",
  install: "acceptance/provider-install.test.ts",
  kill: "acceptance/provider-kill.test.ts",
  endpoints: "acceptance/provider-endpoints.test.ts",
  import: "acceptance/provider-import.test.ts",
  safety: "acceptance/provider-safety.test.ts",
  secrets: "acceptance/provider-secrets.test.ts",
  types: "acceptance/provider-types.test.ts",
} as const;

/** What goes wrong with a provider like ours if nobody thinks of it, and the tests that show how it goes here. */
export const traps: readonly Trap[] = [
  {
    what: "A removed machine is destroyed before the cluster that listed it is updated: it leaves first",
    tests: [
      [acceptance.types, "a machine that is taken out leaves before it is destroyed, and the majority of etcd is kept"],
    ],
  },
  {
    what: "A change that replaces all control planes at once is refused at plan",
    tests: [
      [acceptance.types, "a machine that is taken out leaves before it is destroyed, and the majority of etcd is kept"],
    ],
  },
  {
    what: "A failed create is not tainted: the next apply goes on, a destroy works",
    tests: [
      [acceptance.cluster, "a create that failed leaves nothing tainted and goes on where it was"],
      [acceptance.safety, "a cluster whose create failed can be destroyed through its members, the last one included"],
    ],
  },
  {
    what: "An apply plans again from what it sees, and refuses to destroy what the plan did not say",
    tests: [[acceptance.safety, "what the plan did not say is not thrown away"]],
  },
  {
    what: "Secrets from a resource feed a second provider block, unknown in the first plan",
    tests: [[acceptance.types, "secrets may live in the state and feed the cluster through a second provider block"]],
  },
  {
    what: "A lost or exchanged secrets file is an error; none is made on a build machine",
    tests: [
      [acceptance.cluster, "refuses what would do harm, at plan and at the attribute"],
      [
        acceptance.secrets,
        "secrets may be encrypted for age, come from the environment, and must not be made on a build machine",
      ],
    ],
  },
  {
    what: "Where secrets can't be kept out of the state it is said; everywhere else there are none",
    tests: [
      [acceptance.secrets, "no secret is in state, plan, output, the most talkative log, the journal or an argument"],
      [acceptance.secrets, "a secret in a patch is refused where it stands"],
      [acceptance.endpoints, "a cluster comes up, changes, shrinks and ends; a machine without a config is refused"],
    ],
  },
  {
    what: "The lock entry is ours to write, and new content of the same version is taken",
    tests: [
      [acceptance.install, "init finds the provider beside the stack, and takes a new content of the same version"],
      ["provider/packaging/lock-file.test.ts", "keeps the entries of other providers, in order, and renews ours"],
    ],
  },
  {
    what: "One directory with a small start file, the same bytes everywhere",
    tests: [
      ["provider/packaging/package.test.ts", "has the same bytes from another checkout, and no name of either"],
      ["provider/packaging/package.test.ts", "starts small: the engine is in files of its own"],
    ],
  },
  {
    what: "Files on a colleague's clone: seeds come back by themselves, client files are a diff only when they are no good",
    tests: [
      [acceptance.types, "a seed follows from its inputs, is known while planning and comes back by itself"],
      [
        acceptance.import,
        "a running cluster, its machines, members, files and seeds are imported and are then as they should be",
      ],
    ],
  },
  {
    what: "Two runs at once: one waits; killed anywhere, etcd is started once",
    tests: [
      [acceptance.safety, "of two runs at once one waits for the other"],
      [acceptance.kill, "the provider leaves what the next apply completes, with one start of etcd"],
    ],
  },
  {
    what: "A Terraform that would store write-only values is refused",
    tests: [["provider/protocol/rpc.test.ts", "write-only values are refused by a Terraform that would store them"]],
    missing: "An older terraform than 1.11 was not run: the call is made as one would make it.",
  },
  {
    what: "Two owners: the command line changes through Terraform what a Terraform state has",
    tests: [["workspace/terraform/state-file.test.ts", "a state with resources manages its environment"]],
  },
  {
    what: "A state of 0 bytes is not taken for an empty one; creating a cluster that is there already warns",
    tests: [
      [
        "workspace/terraform/state-file.test.ts",
        "the state %j is refused before terraform could take it for a new one",
      ],
      [
        acceptance.import,
        "a running cluster, its machines, members, files and seeds are imported and are then as they should be",
      ],
    ],
  },
];

/** The traps as a section of docs/provider-tests.md. */
export function trapsSection(): string {
  const rows = traps.map(({ what, tests, missing }, index) => {
    const names = tests.map(([file, title]) => `${title} (\`${file}\`)`);
    return `| ${index + 1} | ${what} | ${[...names, ...(missing === undefined ? [] : [`*${missing}*`])].join("<br>")} |`;
  });
  return `## The traps, and the tests that show how they are avoided

From \`test/support/traps.ts\`; a test checks that each of these tests is there.

| # | trap | tests |
|---|---|---|
${rows.join("\n")}
`;
}
