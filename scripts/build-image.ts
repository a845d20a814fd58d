// SPDX-License-Identifier: Apache-2.0
// npm run image: the operator's image as an OCI layout in dist/image, without a container engine.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Platform, writeImage } from "./image/layout.ts";
import { entriesOf, type TarEntry, tarOf } from "./image/tar.ts";

const { values } = parseArgs({
  options: {
    base: { type: "string" },
    "base-digest": { type: "string" },
    program: { type: "string", multiple: true, default: [] },
    output: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("../", import.meta.url));
const app = "opt/talosmith";
const platforms: readonly Platform[] = ["amd64", "arm64"].map((architecture) => ({ os: "linux", architecture }));

if (values.help) {
  console.info(`npm run image -- [--base <OCI layout> --base-digest sha256:…] [--program linux/amd64=<file>]… [--output <folder>]
  --base         an OCI layout with Node for each platform, such as one that crane pull --format=oci makes
  --base-digest  which image of it, so that no other one is taken
  --program      a program for /usr/local/bin of one platform, such as helm; may be repeated`);
  process.exit(0);
}

const at = (path: string) => join(root, path);
if (!existsSync(at("dist/sbom.cdx.json"))) throw new Error("dist/ is not there: npm run build first");
if ((values.base === undefined) !== (values["base-digest"] === undefined))
  throw new Error("--base and --base-digest belong together");

/** What the package needs when it runs, without what only development needs. */
function modules(): readonly TarEntry[] {
  const { packages } = JSON.parse(readFileSync(at("package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean }>>;
  };
  const shipped = Object.keys(packages).filter((path) => path !== "" && !packages[path]?.dev && existsSync(at(path)));
  return shipped
    .flatMap((path) => entriesOf(at(path), `${app}/${path}`))
    .filter(({ path }) => !isNested(path, shipped));
}

/** A package below another one that is not shipped stays out with it. */
function isNested(path: string, shipped: readonly string[]): boolean {
  const [, inside] = /^opt\/talosmith\/(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)(?:\/|$)/.exec(path) ?? [];
  return inside !== undefined && !shipped.includes(inside);
}

const notShipped = /^opt\/talosmith\/dist\/(mutation|release|site|image|executables)(\/|$)/;
const files = ["package.json", "LICENSE", "bin", "dist", "schemas"]
  .flatMap((name) => entriesOf(at(name), `${app}/${name}`))
  .filter(({ path }) => !notShipped.test(path));
const folders = ["project", "project/environments", "project/generated", "project/state", "data"];
const application = tarOf([
  ...files,
  ...modules(),
  ...folders.map((path): TarEntry => ({ path, mode: 0o755, owner: 1000 })),
]);
const { version } = JSON.parse(readFileSync(at("package.json"), "utf8")) as { version: string };

const programsOf = ({ os, architecture }: Platform): readonly TarEntry[] =>
  values.program.flatMap((given) => {
    const [platform, file = ""] = given.split("=");
    if (platform !== `${os}/${architecture}`) return [];
    return [{ path: `usr/local/bin/${file.split("/").at(-1)}`, content: readFileSync(file), mode: 0o755 }];
  });

const folder = values.output ?? at("dist/image");
const digest = writeImage({
  folder,
  version,
  platforms,
  layers: (platform) => {
    const programs = programsOf(platform);
    return programs.length === 0 ? [application] : [tarOf(programs), application];
  },
  base: values.base === undefined ? undefined : { folder: values.base, digest: values["base-digest"] ?? "" },
  sbom: readFileSync(at("dist/sbom.cdx.json")),
  config: {
    // Helm keeps its caches below HOME, and only /tmp can be written.
    Env: ["NODE_ENV=production", "HOME=/tmp", "TALOSMITH_ROOT=/project"],
    User: "1000:1000",
    WorkingDir: "/project",
    ExposedPorts: { "9180/tcp": {} },
    Entrypoint: ["node", `/${app}/bin/talosmith.js`],
    Cmd: ["--help"],
  },
});
console.info(`${folder}: ${digest}, ${platforms.map(({ os, architecture }) => `${os}/${architecture}`).join(", ")}`);
if (values.base === undefined)
  console.warn("It has no base and so no Node: give one with --base and --base-digest to have an image that runs.");
