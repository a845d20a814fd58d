// SPDX-License-Identifier: Apache-2.0
// Turns our .proto files into TypeScript: `npm run generate:protobuf`. Needs the npm registry, for buf and ts-proto,
// which are tools of this one script and not dependencies of the package. The result is committed.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProtobufFolder, protobufFolders, sourceHash } from "./protobuf-folders.ts";

const tools = ["-p", "@bufbuild/buf@1.74.0", "-p", "ts-proto@2.18.0"];

const options = [
  "esModuleInterop=true",
  "importSuffix=.ts",
  "forceLong=bigint",
  "oneof=unions-value",
  "useExactTypes=false",
  "outputJsonMethods=false",
  // Nanoseconds and times outside of Date's range survive a round trip.
  "useDate=false",
  // Erasable syntax only: no TypeScript enum, and numbers we do not know stay numbers.
  "enumsAsLiterals=true",
  "unrecognizedEnum=false",
];

function generate(root: string, folder: ProtobufFolder): void {
  const work = mkdtempSync(join(tmpdir(), "talosmith-protobuf-"));
  try {
    const output = join(root, folder.generated);
    rmSync(output, { recursive: true, force: true });
    const template = {
      version: "v2",
      plugins: [
        {
          local: "protoc-gen-ts_proto",
          out: output,
          strategy: "all",
          // Empty, Timestamp and the other well-known types are generated beside ours.
          include_imports: true,
          include_wkt: true,
          opt: [...options, `outputServices=${folder.services}`, `outputPartialMethods=${folder.partialMethods}`],
        },
      ],
    };
    const file = join(work, "buf.gen.json");
    writeFileSync(file, JSON.stringify(template));
    execFileSync("npx", ["--yes", ...tools, "buf", "generate", join(root, folder.source), "--template", file], {
      cwd: work,
      stdio: "inherit",
    });
    writeHeaders(output);
    writeFileSync(join(output, "source.sha256"), `${sourceHash(join(root, folder.source))}\n`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function writeHeaders(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const path = join(entry.parentPath, entry.name);
    writeFileSync(path, `// SPDX-License-Identifier: Apache-2.0\n${readFileSync(path, "utf8")}`);
  }
}

const root = join(import.meta.dirname, "..");
for (const folder of protobufFolders) {
  if (process.argv.length > 2 && !process.argv.slice(2).includes(folder.source)) continue;
  generate(root, folder);
}
