// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { isExecutable, ownFile } from "../../talos/own-files.ts";
import type { CommandContext } from "../context.ts";
import { jsonText } from "../output/table.ts";

const section = z.record(z.string(), z.string()).default({});
const ownPackage = z.object({ version: z.string(), dependencies: section, devDependencies: section });
const theirPackage = z.looseObject({ scripts: section, dependencies: section, devDependencies: section });

export const packageFile = "package.json";

/** What must never be committed: keys, credentials and states; and what is made anew anyway. */
const ignored: readonly string[] = [
  "node_modules",
  "/generated/",
  "# What talosctl's own commands write where they are run.",
  ...["/secrets.yaml", "/controlplane.yaml", "/worker.yaml", "/talosconfig", "/kubeconfig"],
  "# What is encrypted may be shared by git.",
  ...["/secrets/*", "!/secrets/*.age", "!/secrets/*.sops.yaml"],
  ...["/state/", "/backups/", "support-*.zip", "/cdktf.out/", ".terraform/", "*.tfstate", "*.tfstate.*", "*.tfplan"],
];

const mainFile = `// SPDX-License-Identifier: Apache-2.0
// The CDK app: one stack for each file in environments/. talosmith, \`cdktf deploy\` and \`cdktn synth\` all run it.
import { synthesizeProject } from "talosmith";

await synthesizeProject(import.meta.dirname);
`;

/**
 * Makes a folder a project of its own, for our commands and the CDK's alike. What is there stays; a package.json and a
 * .gitignore get what they lack. Returns the files that it wrote; with package.json among them, npm has something to install.
 */
export async function writeProject(
  root: string,
  { entropy }: Pick<CommandContext, "entropy">,
): Promise<readonly string[]> {
  const projectFile = {
    language: "typescript",
    app: "node --import tsx main.ts",
    projectId: uuid(entropy(16)),
    sendCrashReports: "false",
    output: "cdktf.out",
  };
  const settings = ["cdktf.json", jsonText(projectFile)] as const;
  // Without main.ts the built-in app makes the stacks: a project of the executable needs neither Node nor npm.
  const files = isExecutable() ? [settings] : [settings, ["main.ts", mainFile] as const];
  const missing = files.filter(([path]) => !existsSync(join(root, path)));
  for (const [path, content] of missing) await writeFileAtomically(join(root, path), content, { mode: 0o644 });
  const written: string[] = missing.map(([path]) => path);
  if (await writeIgnored(join(root, ".gitignore"))) written.push(".gitignore");
  return !isExecutable() && (await writePackage(root)) ? [...written, packageFile] : written;
}

/** True when it was changed. Who has one of our lines had them all, and took out the others on purpose. */
async function writeIgnored(file: string): Promise<boolean> {
  const before = existsSync(file) ? readFileSync(file, "utf8").trimEnd() : "";
  const known = new Set(before.split(/\r?\n/));
  if (known.has("/secrets/*")) return false;
  const missing = ignored.filter((line) => !known.has(line));
  const lines = before === "" ? missing : [before, "", "# What talosmith writes", ...missing];
  await writeFileAtomically(file, `${lines.join("\n")}\n`, { mode: 0o644 });
  return true;
}

/** True when it was changed. */
async function writePackage(root: string): Promise<boolean> {
  const file = join(root, packageFile);
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const their = parsePackage(file, before ?? jsonText({ name: packageName(root), private: true }));
  if (their.name === "talosmith") return false;
  const own = ownPackage.parse(JSON.parse(ownFile("package.json")));
  const { cdktn = "", constructs = "" } = own.dependencies;
  const { tsx = "" } = own.devDependencies;
  const script = (command: string) => `talosmith ${command}`;
  const after = jsonText({
    ...their,
    type: "module",
    scripts: {
      ...Object.fromEntries(["deploy", "plan", "destroy", "synth"].map((command) => [command, script(command)])),
      ...their.scripts,
    },
    dependencies: { cdktn, constructs, talosmith: `^${own.version}`, ...their.dependencies },
    devDependencies: { tsx, ...their.devDependencies },
  });
  if (after !== before) await writeFileAtomically(file, after, { mode: 0o644 });
  return after !== before;
}

function parsePackage(file: string, text: string): z.output<typeof theirPackage> {
  try {
    return theirPackage.parse(JSON.parse(text));
  } catch (cause) {
    throw new TalosError("invalid-input", `${file} is not a package.json that npm would accept`, {
      hint: "Correct or remove it, then try again.",
      cause,
    });
  }
}

/** npm's rules: lower case, no blanks, no dot or underscore first. */
function packageName(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-");
  return name.replace(/^[^a-z0-9]+/, "") || "clusters";
}

function uuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  const version = `4${hex.slice(13, 16)}`;
  const variant = `8${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(20)].join("-");
}
