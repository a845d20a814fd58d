// SPDX-License-Identifier: Apache-2.0
// Which test executes which command and snippet of the documents.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type PageItem, pageItems, pageNames } from "../support/pages.ts";
import { linesOf } from "./walk.ts";
import { walks } from "./walks.ts";

export type Execution =
  | { readonly by: string; readonly when: "npm test" | "npm run test:all" | "TALOSMITH_TEST_TERRAFORMS" }
  | { readonly by: undefined; readonly why: string };

/** What another test than the walks executes: lines of a page that begin so, the test, and words of it by which it is seen. */
interface Elsewhere {
  readonly page: RegExp;
  readonly begins: string;
  readonly test: string;
  readonly words: string;
  readonly when: "npm test" | "npm run test:all";
}

export const elsewhere: readonly Elsewhere[] = [
  {
    page: /^(README|CONTRIBUTING)\.md$/,
    begins: "npm ci && npm test",
    test: ".ci/run",
    words: "npm ci && npm test",
    when: "npm test",
  },
  { page: /^CONTRIBUTING\.md$/, begins: "npm test", test: ".ci/run", words: "npm test", when: "npm test" },
  {
    page: /^docs\/getting-started\.md$/,
    begins: "npm ci && npm start",
    test: "test/pages/checkout-walks.ts",
    words: 'only: ["npm ci && npm start"]',
    when: "npm run test:all",
  },
  {
    page: /^docs\/deploying\.md$/,
    begins: "npm install --global cdktf-cli@0.21",
    test: ".ci/run",
    words: "cdktf-cli@0.21.0",
    when: "npm test",
  },
  {
    page: /^docs\/kubernetes-native\.md$/,
    begins: "kubectl ",
    test: "test/operator/examples.test.ts",
    words: "every kubectl line of the page does what it says",
    when: "npm test",
  },
  {
    page: /^docs\/kubernetes-native\.md$/,
    begins: "helm install talosmith deploy/chart",
    test: "test/deploy/chart-release.test.ts",
    words: "objects.enabled=true",
    when: "npm test",
  },
  {
    page: /^docs\/provider\/resources\//,
    begins: "terraform import ",
    test: "test/acceptance/provider-examples.test.ts",
    words: "imported as its page says",
    when: "npm run test:all",
  },
];

/** What no test executes, and what it would take. */
export const notExecuted: readonly { readonly page: string; readonly begins: string; readonly why: string }[] = [
  {
    page: "docs/aws.md",
    begins: "npm run smoke:aws",
    why: "wants an AWS account, and costs money; test/scripts/aws-smoke.test.ts runs the script with stand-ins",
  },
  {
    page: "docs/deploying.md",
    begins: "npm install --global cdktn-cli@0.24",
    why: "wants a newer Node than the tests run on",
  },
  {
    page: "examples/constructs-in-typescript/README.md",
    begins: "npx cdktf-cli@0.21 deploy lab",
    why: "hashicorp/random comes from a provider registry, and the machines from a hypervisor",
  },
];

const providerExamples = new Map(
  readdirSync("examples/provider", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".tf"))
    .map((name) => [readFileSync(join("examples/provider", name), "utf8"), name]),
);

/** Snippets by what they are. Undefined where nothing takes such a one. */
function snippetExecution({ page, language, info, text }: PageItem): Execution | undefined {
  const always = (by: string): Execution => ({ by, when: "npm test" });
  if (language === "yaml" && info === "") return always("test/docs-snippets.test.ts");
  if (language === "yaml" && info === "ci" && page === "docs/ci.md") return always("test/acceptance/docs-ci.test.ts");
  if (language === "mermaid") return always("test/acceptance/diagrams.test.ts");
  const example = language === "terraform" ? providerExamples.get(text) : undefined;
  if (example?.startsWith("actions/"))
    return { by: "test/acceptance/provider-actions.test.ts", when: "TALOSMITH_TEST_TERRAFORMS" };
  if (example?.startsWith("list-resources/"))
    return { by: "test/acceptance/provider-query.test.ts", when: "TALOSMITH_TEST_TERRAFORMS" };
  if (example !== undefined) return always("test/acceptance/provider-examples.test.ts");
  if (language === "ts" && documentedApps.includes(`snippetOf("${page}", "ts"`))
    return always("test/constructs/documented-apps.test.ts");
  if (language === "ts" && page === "examples/talos-client/README.md") {
    const source = readFileSync("examples/talos-client/main.ts", "utf8");
    return text.split("\n").every((line) => source.includes(line))
      ? { by: "test/pages/found-walks.ts", when: "npm run test:all" }
      : undefined;
  }
  const walk = walkFiles.find((file) => readFileSync(file, "utf8").includes(`snippetOf("${page}", "${language}"`));
  return walk === undefined ? undefined : { by: walk, when: "npm run test:all" };
}

const documentedApps = readFileSync("test/constructs/documented-apps.test.ts", "utf8");
const walkFiles = readdirSync("test/pages")
  .filter((name) => name.endsWith("-walks.ts"))
  .map((name) => join("test/pages", name));

/** Pictures in letters, signatures and what a command prints: nothing in them can be executed. */
export const noCode: readonly string[] = [
  "README.md: environments/local.yaml ─►",
  "ARCHITECTURE.md: environments/local.yaml ──►",
  "docs/provider/functions/node_address.md: node_address(",
  "docs/provider/functions/node_mac.md: node_mac(",
  "docs/provider/functions/patch.md: patch(",
  "examples/talos-client/README.md: talos-client-cp-1 v1.13.9: apid",
];

const quickLines = keysOf(true);
const allLines = keysOf(false);

function keysOf(quick: boolean): ReadonlyMap<string, string> {
  return new Map(
    walks.flatMap((walk) => linesOf(walk, { quick }).map((item) => [keyOf(item), `typed with ${walk.name}`])),
  );
}

function keyOf({ page, line, text }: PageItem): string {
  return `${page}:${line}: ${text}`;
}

/** Who executes an item; undefined where nobody does and nothing says why. */
export function executionOf(item: PageItem): Execution | undefined {
  const [quick, all] = [quickLines.get(keyOf(item)), allLines.get(keyOf(item))];
  if (quick !== undefined) return { by: quick, when: "npm test" };
  if (all !== undefined) return { by: all, when: "npm run test:all" };
  if (!item.command) return snippetExecution(item);
  const { page, text } = item;
  const other = elsewhere.find((each) => each.page.test(page) && text.startsWith(each.begins));
  if (other !== undefined) return { by: other.test, when: other.when };
  const reason = notExecuted.find((each) => each.page === page && text.startsWith(each.begins));
  return reason === undefined ? undefined : { by: undefined, why: reason.why };
}

/** Every command and snippet, but what is no code. */
export function allItems(): readonly PageItem[] {
  return pageNames()
    .flatMap((page) => pageItems(page))
    .filter(({ command, page, text }) => command || !noCode.some((each) => `${page}: ${text}`.startsWith(each)));
}
