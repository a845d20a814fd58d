// SPDX-License-Identifier: Apache-2.0
import type { Action } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { clientFilePlaces, issueClientFiles, twoPaths } from "../client-files.ts";

/** New certificates before the old ones end, such as after somebody has left. */
export const rotateClientFiles: Action<typeof clientFilePlaces, Client> = {
  name: "talosmith_rotate_client_files",
  description:
    "Writes kubeconfig and talosconfig again with new client certificates. The `talosmith_client_files` of the same paths takes them over at the next refresh, without a change. Copies of the old files give access until their certificates expire; only a rotation of the CAs ends that.",
  attributes: clientFilePlaces,
  timeouts: { invoke: "5m" },
  validate: twoPaths,

  async invoke({ config, progress, ...operation }) {
    const { expiresAt } = await issueClientFiles(config, operation);
    progress(`${config.kubeconfig_path} and ${config.talosconfig_path} are written; valid until ${expiresAt}`);
  },
};
