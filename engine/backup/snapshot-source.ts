// SPDX-License-Identifier: Apache-2.0
import { type Credentials, connect } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";

/** Where a snapshot comes from. */
export interface SnapshotSource {
  /** Begins one; `chunks` end with its hash. */
  take<T>(use: (endpoint: string, chunks: AsyncIterable<Uint8Array>) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * The etcd of a running cluster: a member that does not lead where there is one, else the leader. The role
 * `os:etcd:backup` is enough.
 */
export function etcdSource(endpoints: readonly string[], credentials: Credentials): SnapshotSource {
  return {
    async take(use, signal) {
      const call = signal === undefined ? {} : { signal };
      const asked = await Promise.all(
        endpoints.map(async (endpoint) => {
          const client = connect(endpoint, { kind: "mtls", credentials });
          try {
            return { endpoint, status: await client.etcdStatus(call) };
          } catch (error) {
            return { endpoint, failure: TalosError.from(error) };
          } finally {
            client.close();
          }
        }),
      );
      const able = asked.filter(
        ({ status }) =>
          status !== undefined && !status.learner && status.errors.length === 0 && status.leaderId !== "0",
      );
      const chosen = able.find(({ status }) => status?.leaderId !== status?.memberId) ?? able[0];
      if (chosen === undefined) {
        const reasons = asked.map(
          ({ endpoint, failure }) => `${endpoint}: ${failure?.message ?? "its etcd is not healthy"}`,
        );
        const fatal = asked.find(({ failure }) => failure !== undefined && !failure.retryable)?.failure;
        throw new TalosError(
          fatal?.code ?? "unavailable",
          `no control plane has a healthy etcd to take a snapshot from: ${reasons.join("; ")}`,
        );
      }
      const client = connect(chosen.endpoint, { kind: "mtls", credentials });
      try {
        return await use(chosen.endpoint, client.etcdSnapshot(call));
      } finally {
        client.close();
      }
    },
  };
}
