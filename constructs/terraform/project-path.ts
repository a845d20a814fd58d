// SPDX-License-Identifier: Apache-2.0

/** From a stack's folder, cdktf.out/stacks/<name>, to the project's root. */
export const rootFromStack = "../../../";

/** A file of the project as Terraform finds it from the stack's folder. URLs and absolute paths stay as they are. */
export function projectPath(path: string): string {
  return /^([a-z][a-z0-9+.-]*:\/\/|\/)/i.test(path) ? path : `${rootFromStack}${path.replace(/^\.\//, "")}`;
}
