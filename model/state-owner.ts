// SPDX-License-Identifier: Apache-2.0

export interface StateName {
  readonly environment: string;
  /** Kind and key, such as `s3:bucket/key`; a local state's file is relative to the project's root. */
  readonly backend: string;
  readonly workspace: string;
}

/** Names a Terraform state among all that could hold the same cluster. */
export function stateOwner({ environment, backend, workspace }: StateName): string {
  return `environment ${environment}, backend ${backend}, workspace ${workspace}`;
}

/** The whole name: a local state is told from those of other folders by where it is. `root` is the project's real path. */
export function ownerAt(owner: string, root: string): string {
  return owner.replace(/\blocal:(?!\/)/, () => `local:${root}/`);
}
