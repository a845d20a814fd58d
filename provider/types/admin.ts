// SPDX-License-Identifier: Apache-2.0
import type { TalosClient } from "../../talos/api/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";

const hour = 3_600_000;

/** Asks one machine as an admin; the connection ends with the answer. */
export type Ask = <T>(address: string, question: (client: TalosClient) => Promise<T>) => Promise<T>;

/** Admin access to single machines for the length of one operation; through `endpoints`, where there are any. */
export async function adminOf(secrets: SecretsBundle, endpoints: readonly string[] | null = null): Promise<Ask> {
  const [api, { issueAdminCredentials }, { systemClock, systemEntropy }, { trustedCas }] = await Promise.all([
    import("../../talos/api/index.ts"),
    import("../../talos/config/index.ts"),
    import("../../talos/clock.ts"),
    import("../../talos/secrets/index.ts"),
  ]);
  const { connect, connectThrough, parseAddress } = api;
  const pair = issueAdminCredentials(secrets, { clock: systemClock, entropy: systemEntropy, ttl: hour });
  const credentials = { ca: trustedCas(secrets, "os"), certificate: pair.certificate, key: pair.key };
  return async (address, question) => {
    const authentication = { kind: "mtls", credentials } as const;
    const client =
      endpoints === null
        ? connect(address, authentication)
        : connectThrough(endpoints, parseAddress(address).host, authentication);
    try {
      return await question(client);
    } finally {
      client.close();
    }
  };
}
