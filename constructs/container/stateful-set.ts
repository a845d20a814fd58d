// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import { bytesOf } from "../check.ts";
import type { StatefulSetArguments } from "./kubernetes-bindings.ts";
import {
  type ContainerPoolSettings,
  rewrittenPaths,
  statePath,
  temporaryPaths,
  variablePath,
} from "./talos-container.ts";

export interface PodProps {
  readonly name: string;
  readonly namespace: string;
  readonly labels: { readonly [name: string]: string };
  readonly image: string;
  readonly storageClass: string | undefined;
  readonly settings: ContainerPoolSettings;
}

const mebibyte = 2 ** 20;
const quantity = (bytes: number) => `${Math.ceil(bytes / mebibyte)}Mi`;
const stateSize = 100 * mebibyte;

/** `/usr/libexec/kubernetes` becomes usr-libexec-kubernetes. */
const volumeName = (path: string) => path.slice(1).replaceAll("/", "-");

/** A stateful set of one pod that is a Talos machine. */
export function statefulSetArguments(
  scope: Construct,
  { name, namespace, labels, image, storageClass, settings }: PodProps,
): StatefulSetArguments {
  const [state, ephemeral] = ["state", "ephemeral"];
  const claim = (volume: string, bytes: number) => ({
    metadata: { name: volume },
    spec: {
      access_modes: ["ReadWriteOnce"] as const,
      ...given({ storage_class_name: storageClass }),
      resources: { requests: { storage: quantity(bytes) } },
    },
  });
  const requests = quantities(scope, "requests", settings.requests);
  const limits = quantities(scope, "limits", settings.limits);
  const resources = given({ requests, limits });
  return {
    metadata: { name, namespace, labels },
    wait_for_rollout: false,
    spec: {
      replicas: "1",
      service_name: name,
      selector: { match_labels: labels },
      persistent_volume_claim_retention_policy: { when_deleted: "Delete", when_scaled: "Retain" },
      template: {
        metadata: { labels },
        spec: {
          automount_service_account_token: false,
          termination_grace_period_seconds: 60,
          container: {
            name: "talos",
            image,
            env: [{ name: "PLATFORM", value: "container" }],
            security_context: { privileged: true, read_only_root_filesystem: true },
            ...(Object.keys(resources).length === 0 ? {} : { resources }),
            volume_mount: [
              ...[...temporaryPaths, ...rewrittenPaths].map((path) => ({ name: volumeName(path), mount_path: path })),
              { name: state, mount_path: statePath },
              { name: ephemeral, mount_path: variablePath },
            ],
          },
          volume: [
            ...temporaryPaths.map((path) => ({ name: volumeName(path), empty_dir: { medium: "Memory" as const } })),
            ...rewrittenPaths.map((path) => ({ name: volumeName(path), empty_dir: {} })),
          ],
        },
      },
      volume_claim_template: [
        claim(state, stateSize),
        claim(ephemeral, bytesOf(scope, "disk", settings.disk ?? "10GiB")),
      ],
    },
  };
}

function quantities(scope: Construct, place: "requests" | "limits", resources: ContainerPoolSettings["limits"]) {
  const { cpu, memory } = resources ?? {};
  if (cpu === undefined && memory === undefined) return undefined;
  return {
    ...(cpu === undefined ? {} : { cpu: String(cpu) }),
    ...(memory === undefined ? {} : { memory: quantity(bytesOf(scope, `${place}.memory`, memory)) }),
  };
}
