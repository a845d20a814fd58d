// SPDX-License-Identifier: Apache-2.0

/** Settings of whoever runs the tests, or of a build machine, which must not decide a test. */
const foreign =
  /^(CI|NODE_EXTRA_CA_CERTS|TALOSCONFIG|TALOS_HOME|KUBECONFIG|NO_COLOR|FORCE_COLOR|TERRAFORM_BINARY_NAME|(TF|AWS|SOPS|TALOSMITH_(SECRETS|ROOT))(_.*)?)$/;

export function setup(): void {
  for (const name of Object.keys(process.env)) if (foreign.test(name)) delete process.env[name];
}
