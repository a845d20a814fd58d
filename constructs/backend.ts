// SPDX-License-Identifier: Apache-2.0
import {
  DataTerraformRemoteStateHttp,
  DataTerraformRemoteStateLocal,
  DataTerraformRemoteStateS3,
  HttpBackend,
  type HttpBackendConfig,
  LocalBackend,
  ref,
  S3Backend,
  type S3BackendConfig,
  type TerraformRemoteState,
  type TerraformStack,
  Token,
} from "cdktn";
import type { Construct } from "constructs";
import type { Backend, Environment } from "../model/index.ts";
import { stateOwner } from "../model/state-owner.ts";
import { given } from "../talos/given.ts";
import type { JoinedControlPlane } from "./cluster/index.ts";
import { projectPath, requireTerraform } from "./terraform/index.ts";

/** Where an environment's state is when it is a file, from the project's root. */
export function stateFile(environment: string): string {
  return `state/${environment}.tfstate`;
}

export type BackendSettings =
  | { readonly kind: "local"; readonly config: { readonly path: string } }
  | { readonly kind: "s3"; readonly config: S3BackendConfig }
  | { readonly kind: "http"; readonly config: HttpBackendConfig };

/** Terraform asks Amazon about regions, accounts and credentials unless it is told not to; other stores are not theirs. */
const notAmazon = {
  usePathStyle: true,
  skipCredentialsValidation: true,
  skipRegionValidation: true,
  skipRequestingAccountId: true,
  skipS3Checksum: true,
} as const;

/** Where an environment's state is. Nothing is absolute, and nothing lies in the output folder, which is deleted. */
function backendSettings(environment: string, backend: Backend): BackendSettings {
  switch (backend.kind) {
    case "local":
      return { kind: "local", config: { path: projectPath(stateFile(environment)) } };
    case "s3": {
      const { bucket, region, lockTable, endpoint } = backend;
      const lock = lockTable === undefined ? { useLockfile: true } : { dynamodbTable: lockTable };
      const compatible = endpoint === undefined ? {} : { endpoints: { s3: endpoint }, ...notAmazon };
      const key = backend.key ?? `talosmith/${environment}.tfstate`;
      return { kind: "s3", config: { bucket, region, key, encrypt: true, ...lock, ...compatible } };
    }
    case "http": {
      const { address, lockAddress, unlockAddress } = backend;
      const lock = lockAddress === undefined ? {} : { lockAddress };
      return { kind: "http", config: { address, ...lock, ...given({ unlockAddress }) } };
    }
  }
}

/** Which backend, and where in it: without settings that do not tell two states apart. Nothing is absolute. */
export function backendKey(environment: string, backend: Backend): string {
  const settings = backendSettings(environment, backend);
  if (settings.kind === "local") return `local:${stateFile(environment)}`;
  if (settings.kind === "s3") return `s3:${settings.config.bucket}/${settings.config.key}`;
  // Without a user or a token, which the address may hold.
  const { host, pathname } = new URL(settings.config.address);
  return `http:${host}${pathname}`;
}

/** Names the state of an environment's stack among all that could hold the same cluster. */
export function ownerOfStack(environment: string, backend: Backend): string {
  const workspace = Token.asString(ref("terraform.workspace"));
  return stateOwner({ environment, backend: backendKey(environment, backend), workspace });
}

/** Gives the stack its state backend. */
export function addBackend(stack: TerraformStack, environment: string, backend: Backend): void {
  const settings = backendSettings(environment, backend);
  if (settings.kind === "local") new LocalBackend(stack, settings.config);
  else if (settings.kind === "http") new HttpBackend(stack, settings.config);
  else {
    new S3Backend(stack, settings.config);
    if (settings.config.useLockfile) requireTerraform(stack, "1.10.0");
  }
}

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
