// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { ClusterSecrets } from "../../../provider/types/cluster-secrets.ts";

const missing = () => new ClusterSecrets({ kind: "file", path: "/nowhere/secrets/lab.yaml", recipients: [] }, {});

test("a bundle that is missing is to be restored where a cluster was made with it", async () => {
  const detail = "The cluster was made with a secrets bundle, and /nowhere/secrets/lab.yaml is not there.";
  await expect(missing().of("aa:bb")).rejects.toThrow(detail);
  await expect(missing().of("aa:bb")).rejects.not.toThrow("make it now");
});

test("where nobody knows of a cluster yet, what to do for a new one is said, too", async () => {
  await expect(missing().of(null)).rejects.toThrow(
    "/nowhere/secrets/lab.yaml is not there. Of a cluster that exists, restore it from your backup; a new one would not fit. For a new cluster, make it now: talosmith gen secrets --output-file /nowhere/secrets/lab.yaml",
  );
});
