// SPDX-License-Identifier: Apache-2.0
// Pages about AWS, libvirt and containers: none of them is here.
import { openCloud, standIns } from "./clouds.ts";
import { snippetOf } from "./snippets.ts";
import type { Walk } from "./walk.ts";
import { environments } from "./worlds.ts";

const name = "the real terraform and stand-ins for all providers";
const states = "example-terraform-states";

/** An example's folder as it is. */
const example = (folder: string, options: { readonly bucket?: string; readonly quick?: true } = {}): Walk => ({
  page: `examples/${folder}/README.md`,
  name,
  ...(options.quick === undefined ? {} : { quick: options.quick }),
  open: () =>
    openCloud({ from: `examples/${folder}`, ...(options.bucket === undefined ? {} : { bucket: options.bucket }) }),
});

export const cloudWalks: readonly Walk[] = [
  {
    page: "docs/quick-reference.md",
    name,
    open: () => openCloud(),
    only: [
      "npx talosmith init lab",
      "npx talosmith topology lab",
      "npx talosmith plan lab",
      "npx talosmith deploy lab",
    ],
  },
  {
    page: "docs/aws.md",
    name: `${name}, and moto for the state's bucket`,
    // Backups are taken of a cluster that answers.
    except: ["npm run smoke:aws", "npx talosmith operate", "npx talosmith backup"],
    once: true,
    open: () =>
      openCloud({
        bucket: states,
        files: {
          "cdktf.json": "{}",
          "environments/staging.yaml": snippetOf("docs/aws.md", "yaml"),
          "environments/sandbox.yaml": snippetOf("docs/aws.md", "yaml").replace(/^backend:[\s\S]*?\n\n/m, ""),
        },
      }),
    before: {
      "npx talosmith plan staging": ["echo 'secrets: { file: secrets/staging.yaml.age }' >> environments/staging.yaml"],
      "npx talosmith destroy sandbox": ["npx talosmith deploy sandbox --yes"],
    },
  },
  {
    page: "locks/README.md",
    name: `${name} in the place of a registry`,
    open: async () => {
      const opened = await openCloud({
        files: { "cdktf.json": "{}", "locks/README.md": "", ...environments("base", "production") },
      });
      if ("missing" in opened) return opened;
      return { ...opened, put: { "providers lock": `providers lock -fs-mirror=${await standIns()}` } };
    },
    after: { cp: ["grep -A3 hashicorp/aws locks/production.hcl"] },
  },
  { page: "docs/libvirt.md", name, open: () => openCloud() },
  {
    page: "docs/containers.md",
    name,
    open: () =>
      openCloud({
        files: { "cdktf.json": "{}", "environments/tenant.yaml": snippetOf("docs/containers.md", "yaml") },
      }),
  },
  example("aws-sandbox", { quick: true }),
  example("aws-staging", { bucket: states }),
  example("aws-production", { bucket: states }),
  example("libvirt-default"),
  example("libvirt-ha"),
  example("cluster-container"),
  example("controlplane-container"),
  example("worker-container"),
];
