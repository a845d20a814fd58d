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

type Env = Readonly<Record<string, string | undefined>>;

/** The workspace that terraform or tofu uses for the stack of an environment. `read` takes paths from the project's root. */
export function selectedWorkspace(environment: string, read: (file: string) => string | undefined, env: Env): string {
  const selected = () => read(`cdktf.out/stacks/${environment}/.terraform/environment`)?.trim();
  return env.TF_WORKSPACE || selected() || "default";
}

/** The local state of a workspace, from the project's root: Terraform keeps those of other workspaces in the stack's folder. */
export function workspaceState(environment: string, workspace: string): string {
  if (workspace === "default") return `state/${environment}.tfstate`;
  return `cdktf.out/stacks/${environment}/terraform.tfstate.d/${workspace}/terraform.tfstate`;
}
