// SPDX-License-Identifier: Apache-2.0
// Worlds without the cloud, hypervisor or engine that a page is about: the real terraform with providers that have the
// real schemas and only remember.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Moto, startMoto } from "../support/moto.ts";
import { layStandIns } from "../support/stand-in-providers.ts";
import type { Missing, World } from "./walk.ts";
import { noTerraform, openProject, type ProjectOptions, terraform } from "./worlds.ts";

let laid: Promise<string> | undefined;

/** The mirror of stand-ins: made once, gone with this process. */
export function standIns(): Promise<string> {
  if (laid !== undefined) return laid;
  const folder = mkdtempSync(join(tmpdir(), "talosmith-stand-ins-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  laid = layStandIns(folder);
  return laid;
}

export interface CloudOptions extends ProjectOptions {
  /** The state's bucket, which the environment names: it is there, on moto. */
  readonly bucket?: string;
}

/** A project whose terraform has stand-ins for every provider, ours among them. */
export async function openCloud({ bucket, ...options }: CloudOptions = {}): Promise<World | Missing> {
  if (terraform === undefined) return noTerraform;
  const moto = bucket === undefined ? undefined : await startMoto();
  if (moto !== undefined && "missing" in moto) return moto;
  const mirror = await standIns();
  const settings = join(mirror, "../terraform.rc");
  writeFileSync(settings, `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`);
  const env = { ...options.env, TF_CLI_CONFIG_FILE: settings, ...(moto === undefined ? {} : motoSettings(moto)) };
  const world = openProject({ ...options, env });
  for (const name of ["terraform", "tofu"]) world.shell.standIn(name, throughStandIns(terraform));
  if (moto !== undefined && bucket !== undefined) await makeBucket(moto, bucket);
  return {
    ...world,
    async close() {
      await world.close();
      moto?.stop();
    },
  };
}

/** The lock that synth lays down has the hash of our real provider; moto has no names of buckets as hosts. */
export const throughStandIns = (real: string) => `if [ "$1" = init ]; then
  rm -f .terraform.lock.hcl
  if cat ./*.tf.json | tr -d ' \\n' | grep -q '"backend":{"s3"'; then
    set -- "$@" -backend-config=use_path_style=true
  fi
fi
exec '${real}' "$@"`;

/** A project whose terraform has our real provider, and stand-ins for those of others. */
export async function openWithOwnProvider(options: ProjectOptions = {}): Promise<World | Missing> {
  if (terraform === undefined) return noTerraform;
  const world = openProject({ ...options, programs: { terraform, ...options.programs } });
  // Where terraform and tofu look, beside a stack's own folder, as long as no settings say otherwise.
  const plugins = join(world.shell.home, ".terraform.d/plugins");
  for (const host of ["registry.terraform.io", "registry.opentofu.org"])
    cpSync(join(await standIns(), host), join(plugins, host), { recursive: true });
  return world;
}

export const motoSettings = ({ endpoint }: Moto) => ({
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_ENDPOINT_URL_STS: endpoint,
  AWS_ENDPOINT_URL_IAM: endpoint,
  AWS_EC2_METADATA_DISABLED: "true",
});

export async function makeBucket({ endpoint }: Moto, bucket: string): Promise<void> {
  const body =
    '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>';
  await fetch(`${endpoint}/${bucket}`, { method: "PUT", body });
}
