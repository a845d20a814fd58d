// SPDX-License-Identifier: Apache-2.0
import type { Credentials } from "../../talos/api/index.ts";
import { type Clock, type Entropy, systemClock, systemEntropy } from "../../talos/clock.ts";
import { issueAdminCredentials, type Role } from "../../talos/config/index.ts";
import { backdated, issueCertificate, type KeyPair } from "../../talos/pki/index.ts";
import { type SecretsBundle, trustedCas } from "../../talos/secrets/index.ts";

export interface Issuing {
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** Milliseconds. One run of the engine needs no more. */
const lifetime = 24 * 3_600_000;

/** Talos credentials for one run, an admin's unless said otherwise. They are never written anywhere. */
export function talosCredentials(
  secrets: SecretsBundle,
  { clock, entropy }: Issuing = { clock: systemClock, entropy: systemEntropy },
  roles: readonly Role[] = ["os:admin"],
): Credentials {
  const pair = issueAdminCredentials(secrets, { ttl: lifetime, clock, entropy, roles });
  return { ca: trustedCas(secrets, "os"), ...pair };
}

/** The same for Kubernetes, as Talos makes it for its own kubeconfig. */
export function kubernetesCredentials(secrets: SecretsBundle, { clock, entropy }: Issuing): KeyPair {
  const now = clock.now();
  return issueCertificate(
    secrets.certs.k8s,
    {
      subject: { commonName: "admin", organizations: ["system:masters"] },
      notBefore: backdated(now),
      notAfter: new Date(now.getTime() + lifetime),
      usages: ["clientAuth"],
      keyUsages: ["digitalSignature", "keyEncipherment"],
    },
    { entropy },
  );
}
