// SPDX-License-Identifier: Apache-2.0
// Writes a NoCloud ISO to standard output from arguments such as meta-data=/path. create-cloudinit-iso.sh calls it.
import { readFileSync } from "node:fs";
import { checkNetworkConfig, createIso, noCloudLabel } from "../cloud-init/index.ts";

const files = process.argv.slice(2).map((argument) => {
  const [name = "", ...path] = argument.split("=");
  return { name, content: readFileSync(path.join("=")) };
});

for (const required of ["meta-data", "network-config"]) {
  if (files.some((file) => file.name === required)) continue;
  console.error(`--${required} is missing`);
  process.exit(64);
}
const network = files.find((file) => file.name === "network-config");
try {
  checkNetworkConfig(new TextDecoder().decode(network?.content));
  process.stdout.write(createIso(noCloudLabel, files));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
