// SPDX-License-Identifier: Apache-2.0
import {
  DataTerraformRemoteStateHttp,
  DataTerraformRemoteStateLocal,
  DataTerraformRemoteStateS3,
  type TerraformRemoteState,
} from "cdktf";
import type { Construct } from "constructs";
import type { Environment } from "../model/index.ts";
import { backendSettings } from "./backend.ts";
import type { JoinedControlPlane } from "./cluster/index.ts";

/** The control plane of another environment, as that environment's state tells of it. */
export function joinedControlPlane(scope: Construct, environment: Environment): JoinedControlPlane {
  const state = remoteState(scope, environment);
  return { endpoint: state.getString("cluster_endpoint"), addresses: state.getList("control_plane_ips") };
}

function remoteState(scope: Construct, { name, backend }: Environment): TerraformRemoteState {
  const settings = backendSettings(name, backend);
  switch (settings.kind) {
    case "local":
      return new DataTerraformRemoteStateLocal(scope, "control_plane", settings.config);
    case "s3": {
      // Who only reads locks nothing, and an older Terraform than the owner's need not know this way of locking.
      const { useLockfile: _file, dynamodbTable: _table, ...config } = settings.config;
      return new DataTerraformRemoteStateS3(scope, "control_plane", config);
    }
    case "http":
      return new DataTerraformRemoteStateHttp(scope, "control_plane", settings.config);
  }
}
