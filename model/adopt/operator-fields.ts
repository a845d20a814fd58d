// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";

/** What becomes of a field that is set: refused, told of, or neither where it is read elsewhere. */
interface Outcome {
  readonly refused?: string;
  readonly hint?: string;
  readonly note?: string;
}

type Rule = "read" | "in the machines' configs" | FieldTable | ((value: unknown) => Outcome | undefined);

/** Every field of a kind. `read`: it is taken into the environment. What is in the machines' configs is read there. */
export interface FieldTable {
  readonly [field: string]: Rule;
}

const refused = (reason: string, hint?: string) => (): Outcome => ({
  refused: reason,
  ...given({ hint }),
});
const leftOut = (note: string) => (): Outcome => ({ note: `left out: ${note}` });
const inConfigs = "in the machines' configs";

const mode: Rule = (value) =>
  value === "metal"
    ? undefined
    : {
        refused: `found ${JSON.stringify(value)}, expected metal`,
        hint: "Machines in containers of the operator's own cluster cannot be adopted: they end with it. Make a new cluster and restore a backup of etcd into it.",
      };

const machineSpec: FieldTable = {
  installDisk: inConfigs,
  wipe: leftOut("it counts only for the first installation"),
  image: inConfigs,
  meta: leftOut("the META of a machine stays as it is; say infrastructure.meta to own it"),
  airGap: inConfigs,
  imageCache: inConfigs,
  allowSchedulingOnControlPlanes: inConfigs,
  registries: inConfigs,
  additionalConfig: inConfigs,
};

const metalSpec: FieldTable = {
  machines: {
    address: "read",
    machineRef: refused(
      "the address is in another object",
      "Write the address itself, or name the machines with --nodes.",
    ),
  },
  machineSpec,
};

const storageClassName = leftOut("it is for machines in containers");
const replicas = leftOut("the machines are listed");

const controlPlane: FieldTable = {
  version: inConfigs,
  mode,
  replicas,
  metalSpec,
  endpoint: inConfigs,
  kubeVersion: inConfigs,
  clusterDomain: inConfigs,
  storageClassName,
  podCIDR: inConfigs,
  serviceCIDR: inConfigs,
  configRef: inConfigs,
  cni: inConfigs,
};

const worker: FieldTable = {
  version: inConfigs,
  mode,
  replicas,
  metalSpec,
  kubeVersion: inConfigs,
  storageClassName,
  controlPlaneRef: "read",
  configRef: inConfigs,
};

const noOption = refused("helm is called without it", "Take it out, or keep this release outside of the environment.");

const helmSpec: FieldTable = {
  chartName: "read",
  repoURL: "read",
  releaseName: "read",
  namespace: "read",
  version: "read",
  valuesTemplate: "read",
  options: (value) => {
    const known = new Set(["wait", "timeout"]);
    const other = Object.entries(value as object).find(
      ([key, set]) => !known.has(key) && set !== false && set !== null,
    );
    return other === undefined ? undefined : { ...noOption(), refused: `${other[0]}: helm is called without it` };
  },
  credentials: refused(
    "it refers to a Secret",
    "Take it out, and add credentials (username and passwordEnv) to the add-on in the environment.",
  ),
  tlsConfig: refused("there is no equivalent", "Let the computer trust the registry's CA, and take it out."),
};

const backup: FieldTable = {
  talosControlPlaneRef: "read",
  backupStorage: {
    s3: {
      bucket: "read",
      region: "read",
      endpoint: "read",
      accessKeyID: leftOut("credentials come from AWS's usual chain"),
      secretAccessKey: leftOut("credentials come from AWS's usual chain"),
      insecureSkipTLSVerify: (value) =>
        value === true
          ? {
              refused: "certificates are always checked",
              hint: "Let the computer trust the store's CA, and take it out.",
            }
          : undefined,
    },
  },
};

export const operatorFields: Readonly<Record<string, FieldTable>> = {
  TalosCluster: { controlPlane, controlPlaneRef: "read", worker, workerRef: "read" },
  TalosControlPlane: controlPlane,
  TalosWorker: worker,
  TalosMachine: {
    endpoint: "read",
    version: inConfigs,
    machineSpec,
    installDisk: inConfigs,
    controlPlaneRef: "read",
    workerRef: "read",
    configRef: inConfigs,
  },
  TalosClusterAddon: {
    clusterSelector: {
      matchLabels: "read",
      matchExpressions: refused(
        "only matchLabels are understood",
        "Say it with matchLabels, or give only the add-ons of this cluster.",
      ),
    },
    helmSpec,
  },
  TalosClusterAddonRelease: { clusterRef: "read", helmSpec },
  TalosEtcdBackup: backup,
  TalosEtcdBackupSchedule: {
    schedule: "read",
    backupTemplate: { spec: backup },
    retention: "read",
    paused: "read",
  },
};
