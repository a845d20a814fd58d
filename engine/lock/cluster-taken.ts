// SPDX-License-Identifier: Apache-2.0
import { TalosError, type TalosErrorOptions } from "../../talos/errors.ts";

/** Another run has the cluster, and may give it back. Known by its field: its class may come from another file. */
export class ClusterTaken extends TalosError {
  readonly taken = true;

  constructor(message: string, options: TalosErrorOptions = {}) {
    super("conflict", message, options);
  }
}
