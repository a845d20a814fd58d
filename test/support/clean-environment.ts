// SPDX-License-Identifier: Apache-2.0

/** A developer's own certificates or terraform settings must not decide a test. */
export function setup(): void {
  for (const name of ["NODE_EXTRA_CA_CERTS", "TF_CLI_CONFIG_FILE", "TALOSCONFIG", "KUBECONFIG"])
    delete process.env[name];
}
