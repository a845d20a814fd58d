// SPDX-License-Identifier: Apache-2.0

/** The title of the warning as Terraform shows it; of an environment the warning names the line in its file instead. */
export const evenControlPlanes = "Even number of control planes";
