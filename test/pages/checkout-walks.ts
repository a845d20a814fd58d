// SPDX-License-Identifier: Apache-2.0
// Pages that are read in a checkout, and those about a project of one's own, which is made from one.
import { resolve } from "node:path";
import { findProgram } from "../support/programs.ts";
import { runCommand } from "../support/run-command.ts";
import { openWithOwnProvider } from "./clouds.ts";
import { snippetOf } from "./snippets.ts";
import type { Missing, Walk, World } from "./walk.ts";
import { openProject, type ProjectOptions, simulated, terraform } from "./worlds.ts";

const own = { checkout: true, npx: "npm" } as const;
const tofu = findProgram("tofu");
const cdktf = findProgram("cdktf");
/** A copy has our packages by a link: `npm ci` would empty what it leads to. */
const unlink = "rm -f node_modules";
const relink = `rm -rf node_modules && ln -s ${resolve("node_modules")} node_modules`;
const unchanged = ["git diff --exit-code"];

const write = (file: string, text: string) => `cat > ${file} <<'END'\n${text}END`;

/** Scripts that take minutes or hours, with what makes less of the same. */
const smallest = {
  "<env>": "local",
  "npm run test:unit": "npm run test:unit -- test/talos/yaml.test.ts",
  "npm run test:all": "npm run test:all -- --project unit test/talos/yaml.test.ts",
  "npm run bench": "npm run bench -- NoCloud",
  "npm run fuzz": "npm run fuzz -- --target patch --inputs 500 --seed 2",
  "npm run mutate": "npm run mutate -- quorum",
};

/** With the npm registry, which installs need. */
async function withRegistry(open: () => Promise<World | Missing>): Promise<World | Missing> {
  const { code } = await runCommand("npm", ["view", "tsx", "version", "--fetch-retries=0", "--fetch-timeout=10000"], {
    cwd: "/",
  });
  return code === 0 ? open() : { missing: "the npm registry does not answer" };
}

/** An empty folder beside a checkout from which the package was packed. */
async function besidePackage(options: ProjectOptions = {}): Promise<World> {
  const world = openProject({ ...own, ...options });
  for (const line of ["npm pack --pack-destination ..", "mkdir ../clusters", "cd ../clusters"])
    await world.shell.ok(line);
  return world;
}

export const checkoutWalks: readonly Walk[] = [
  {
    page: "README.md",
    name: "a checkout, our real provider and stand-ins for AWS and libvirt",
    quick: ["npx talosmith review", "npx talosmith synth sandbox", "cd cdktf.out", "terraform show"],
    open: () => openWithOwnProvider(own),
    except: ["npm ci"],
    before: { "kubectl --kubeconfig generated/local": ["npm start"] },
    shows: { "terraform show": "What the apply will do, in order", "npx talosmith plan local": "No changes" },
  },
  {
    page: "README.md",
    name: "a checkout without packages, and the npm registry",
    open: () => withRegistry(() => openWithOwnProvider(own)),
    only: ["npm ci && npm start"],
    before: { "npm ci": [unlink] },
    shows: { "npm ci": "local is up: 3 control planes, 2 workers" },
  },
  {
    page: "docs/getting-started.md",
    name: "an empty folder",
    quick: true,
    open: async () => openProject({ files: {} }),
    only: ["npx talosmith", "kubectl", "talosctl", "mkdir -p"],
    // Its packages come from the registry, with which the whole page is walked below; without it the built-in app runs.
    after: { "npx talosmith init": ["rm main.ts"] },
  },
  {
    page: "docs/getting-started.md",
    name: "the packed package, and the npm registry",
    stays: true,
    open: () => withRegistry(async () => openProject(own)),
    except: ["npm ci"],
  },
  {
    page: "docs/deploying.md",
    name: "the packed package, cdktf where it is there, and the npm registry",
    stays: true,
    open: () => withRegistry(async () => openProject({ ...own, programs: { cdktf, terraform } })),
    except: ["npm install --global", "export TF_ENCRYPTION"],
    before: {
      "cdktf deploy": [write("main.ts", snippetOf("docs/deploying.md", "ts"))],
      "npx talosmith provider install": ["npx talosmith destroy local --yes"],
    },
    // What the page's main.ts adds is there through the CDK's own door.
    after: {
      "cdktf deploy": ["grep motto outputs.json"],
      // The page's settings for who has a mirror, with the reader's own folder in them.
      "npx talosmith provider install": [
        write("~/mirror.tfrc", snippetOf("docs/deploying.md", "hcl")),
        'sed -i "s#/home/me#$HOME#" ~/mirror.tfrc && npx talosmith synth local',
        "(cd cdktf.out/stacks/local && TF_CLI_CONFIG_FILE=~/mirror.tfrc terraform init)",
      ],
    },
  },
  {
    page: "docs/deploying.md",
    name: "a state of the real tofu's",
    open: async () => {
      if (tofu === undefined) return { missing: "there is no tofu" };
      const files = { "cdktf.json": "{}", "environments/local.yaml": simulated() };
      return openProject({ files, programs: { tofu }, env: { TF_VAR_state_passphrase: "correct horse battery" } });
    },
    only: ["export TF_ENCRYPTION"],
    before: {
      "export TF_ENCRYPTION": [
        "npx talosmith deploy local --yes",
        write("more.yaml", snippetOf("docs/deploying.md", "yaml", 1)),
        "cat more.yaml >> environments/local.yaml && echo 'cluster: { certSans: [a.example] }' > environments/base.yaml",
      ],
    },
    after: {
      "export TF_ENCRYPTION": ["npx talosmith deploy local --yes", "grep -q encrypted_data state/local.tfstate"],
    },
  },
  {
    page: "docs/upgrading-talosmith.md",
    name: "the packed package, and the npm registry",
    stays: true,
    open: () =>
      withRegistry(async () => {
        const world = await besidePackage();
        for (const line of [
          "npm install ../talosmith-0.1.0.tgz",
          "npx talosmith init lab --kind simulated --control-planes 1 --workers 0",
          "npm install",
          "npx talosmith up lab",
        ])
          await world.shell.ok(line);
        return world;
      }),
  },
  ...["SECURITY.md", "docs/decisions/0001-es-modules-run-from-source.md"].map((page) => ({
    page,
    name: "a checkout",
    open: async () => openProject(),
  })),
  {
    page: "docs/reliability.md",
    name: "a checkout",
    open: async () => openProject(own),
  },
  {
    page: "examples/constructs-in-typescript/README.md",
    name: "a checkout with its build, and the npm registry",
    open: () =>
      withRegistry(async () => {
        const world = openProject(own);
        await world.shell.ok("npm run build");
        return world;
      }),
    only: ["npm install"],
    before: { "npm install": ["cd examples/constructs-in-typescript"] },
    after: {
      "npm install": [
        write("main.ts", snippetOf("examples/constructs-in-typescript/README.md", "ts")),
        "node --import tsx main.ts",
        "grep -q random_pet cdktf.out/stacks/lab/cdk.tf.json",
      ],
    },
  },
  {
    page: "docs/constructs.md",
    name: "the packed package and the npm registry",
    open: () => withRegistry(besidePackage),
    before: {
      "npm install @cdktn/provider-aws": [
        "npm init --yes",
        "npm pkg set type=module",
        "npm install ../talosmith-*.tgz tsx",
      ],
    },
    after: {
      "npm install @cdktn/provider-aws": [
        "test -d node_modules/cdktn && ! test -e node_modules/cdktf",
        `test "$(node -p 'Object.keys(require("./package-lock.json").packages).filter((path) => /cdktn$/.test(path)).length')" = 1`,
        write("main.ts", snippetOf("examples/aws-construct-database/README.md", "ts")),
        "node --import tsx main.ts",
        "grep -q aws_db_instance cdktf.out/stacks/lab/cdk.tf.json",
        `test "$(node -p 'JSON.stringify(require("./cdktf.out/stacks/lab/cdk.tf.json").provider.aws)')" = '[{"region":"eu-central-1"}]'`,
      ],
      "npm install @cdktf/provider-random": [
        write(
          "main.ts",
          snippetOf("examples/constructs-in-typescript/README.md", "ts").replaceAll(
            "@cdktn/provider",
            "@cdktf/provider",
          ),
        ),
        "node --import tsx main.ts",
        "grep -q random_pet cdktf.out/stacks/lab/cdk.tf.json",
      ],
    },
  },
  {
    page: "CONTRIBUTING.md",
    name: "a checkout, a stand-in for docker, and the npm registry; long scripts in their smallest form",
    open: () =>
      withRegistry(async () => {
        const world = openProject({ ...own, env: { TALOSMITH_SEED: "18" } });
        world.shell.standIn("docker", '[ "$1 $2" = "build --file" ] && test -f "$3" && echo "$@"');
        return { ...world, put: smallest };
      }),
    except: ["npm test"],
    before: { "npm run docs": [relink] },
    after: Object.fromEntries(
      ["format", "generate:schema", "generate:pictures", "generate:metrics", "generate:docs"]
        .concat("generate:protobuf")
        .map((script) => [`npm run ${script}`, unchanged]),
    ),
    shows: { "npm run docker:build": "--tag talosmith:0.1.0" },
  },
];
