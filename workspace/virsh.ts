// SPDX-License-Identifier: Apache-2.0
import type { Plan } from "../review/index.ts";
import { TalosError } from "../talos/errors.ts";
import { programPath } from "../talos/program-path.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Where virsh is. libvirt's provider cannot enlarge a volume, so that stacks of libvirt do it by virsh where Terraform runs. */
export function virshPath({ PATH }: Variables): string | undefined {
  return programPath("virsh", PATH);
}

/** Why a plan cannot be applied here: it enlarges disks, and virsh is missing. Undefined where it can. */
export function missingVirsh({ changes }: Pick<Plan, "changes">, env: Variables): TalosError | undefined {
  const isGrowth = /(?:^|\.)terraform_data\.\w+_disk_size(?:\["(.+)"\])?$/;
  const grown = changes.flatMap(({ address, action }) => {
    const found = action === "replace" ? isGrowth.exec(address) : null;
    return found === null ? [] : [found[1] ?? address];
  });
  if (grown.length === 0 || virshPath(env) !== undefined) return undefined;
  return new TalosError(
    "failed-precondition",
    `the disks of ${grown.join(", ")} grow by virsh, which is not on the PATH`,
    {
      hint: "Install virsh on this machine; most distributions have it in libvirt-clients or libvirt-client.",
    },
  );
}
