// SPDX-License-Identifier: Apache-2.0
import type { Credentials } from "../../talos/api/index.ts";
import { type Clock, type Entropy, systemClock, systemEntropy } from "../../talos/clock.ts";
import { issueAdminCredentials, type Role } from "../../talos/config/index.ts";
import { issueCertificate, type KeyPair } from "../../talos/pki/index.ts";
import { type SecretsBundle, trustedCas } from "../../talos/secrets/index.ts";

export interface Issuing {
  readonly clock: Clock;
  readonly entropy: Entropy;
}

const hour = 3_600_000;
/** One run of the engine needs no more; and machines whose clocks are a little behind shall accept it at once. */
const lifetime = 25 * hour;
const backdated = hour;

/** Talos credentials for one run, an admin's unless said otherwise. They are never written anywhere. */
export function talosCredentials(
  secrets: SecretsBundle,
  { clock, entropy }: Issuing = { clock: systemClock, entropy: systemEntropy },
  roles: readonly Role[] = ["os:admin"],
): Credentials {
  const earlier = { now: () => new Date(clock.now().getTime() - backdated) };
  const pair = issueAdminCredentials(secrets, { ttl: lifetime, clock: earlier, entropy, roles });
  return { ca: trustedCas(secrets, "os"), ...pair };
}

/** The same for Kubernetes, as Talos makes it for its own kubeconfig. */
export function kubernetesCredentials(secrets: SecretsBundle, { clock, entropy }: Issuing): KeyPair {
  const notBefore = new Date(clock.now().getTime() - backdated);
  return issueCertificate(
    secrets.certs.k8s,
    {
      subject: { commonName: "admin", organizations: ["system:masters"] },
      notBefore,
      notAfter: new Date(notBefore.getTime() + lifetime),
      usages: ["clientAuth"],
      keyUsages: ["digitalSignature", "keyEncipherment"],
    },
    { entropy },
  );
}
