// SPDX-License-Identifier: Apache-2.0
import { configFindings, type Finding } from "../engine/index.ts";
import { placeholders } from "./migrate-configs.ts";
import type { Workspace } from "./workspace.ts";

const nothingObserved = { machines: new Map(), kubernetes: { kind: "unreachable", reason: "" } } as const;

/**
 * What machines would refuse of the configs of an environment, with the files and lines of the patches: Terraform names
 * attributes of a generated stack, which no person wrote.
 */
export async function refusedConfigs(workspace: Workspace): Promise<readonly Finding[]> {
  const secrets = await workspace.secrets.forPlan();
  const desired = await workspace.desired(secrets, await placeholders(workspace));
  return configFindings(desired, nothingObserved);
}
