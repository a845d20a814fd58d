// SPDX-License-Identifier: Apache-2.0
import { contractOf, KubernetesVersion, newestTalosOf, TalosVersion } from "../../talos/version/index.ts";
import { controlPlanePool, listedMachinesOf, machinesOf, poolInAddresses } from "../environment/environment.ts";
import { firstContactOf, firstContactProblem } from "../environment/first-contact.ts";
import { hasPlace } from "../environment/own-bucket.ts";
import { addonRules } from "./addons.ts";
import { clusterRules, settingsRules } from "./cluster.ts";
import { error, noMoreFailures, type Rule, type Rules, warning } from "./rule.ts";

/** Of machines that are listed one by one, the rule of their kind counts them. */
const oddControlPlanes: Rule = ({ kind, controlPlane }) =>
  kind === "metal" || controlPlane === undefined || controlPlane.count % 2 === 1
    ? []
    : warning({
        path: ["controlPlane", "count"],
        found: String(controlPlane.count),
        expected: "an odd number",
        hint: noMoreFailures(controlPlane.count),
      });

const supportedKubernetes: Rule = ({ cluster }) => {
  const talos = TalosVersion.parse(cluster.talosVersion);
  if (talos.supportsKubernetes(KubernetesVersion.parse(cluster.kubernetesVersion))) return [];
  return error({
    path: ["cluster", "kubernetesVersion"],
    found: cluster.kubernetesVersion,
    expected: `a Kubernetes version that Talos ${talos.toString()} runs, such as ${talos.defaultKubernetesVersion}`,
    hint: "Change one of the two versions, or leave kubernetesVersion out.",
    also: ["cluster", "talosVersion"],
  });
};

const knownTalos: Rule = ({ cluster }) => {
  const talos = TalosVersion.parse(cluster.talosVersion);
  const unknown = talos.unknownWith(contractOf(cluster));
  if (unknown === undefined) return [];
  return warning({
    path: ["cluster", "talosVersion"],
    found: cluster.talosVersion,
    expected: `a release that this talosmith knows, up to ${newestTalosOf("latest")}`,
    hint: unknown,
  });
};

const credentialsInState: Rule = ({ outputs, backend }) => {
  const asked = (["kubeconfig", "talosconfig"] as const).filter((file) => outputs[file]);
  if (asked.length === 0 || backend.encryption !== undefined) return [];
  return asked.map((file) =>
    warning({
      path: ["outputs", file],
      found: "true",
      expected: "false, or an encrypted state",
      hint: "Whoever can read the state is then administrator of the cluster. Set backend.encryption, or use the file on disk.",
    }),
  );
};

const poolNamesUnique: Rule = ({ workers }) =>
  workers.flatMap((pool, index) => {
    const first = workers.findIndex((other) => other.name === pool.name);
    if (pool.name === controlPlanePool)
      return error({
        path: ["workers", index, "name"],
        expected: `another name than ${controlPlanePool}, which the control planes have`,
        hint: "Rename the pool.",
      });
    if (first === index) return [];
    return error({
      path: ["workers", index, "name"],
      found: `a second pool named ${pool.name}`,
      expected: "a name of its own for each pool",
      hint: "Give the pools different names.",
      also: ["workers", first],
    });
  });

/** Both would be at one address of Terraform, such as `aws_instance.worker`. */
const poolAddressesDiffer: Rule = ({ workers }) =>
  workers.flatMap(({ name }, index) => {
    const other = [controlPlanePool, ...workers.map((pool) => pool.name)].find(
      (pool) => pool !== name && poolInAddresses(pool) === name,
    );
    if (other === undefined) return [];
    return error({
      path: ["workers", index, "name"],
      expected: `another name than ${name}, which addresses of Terraform have for the pool ${other}`,
      hint: "Rename the pool.",
    });
  });

const machineNamesFit: Rule = (environment) => {
  const long = machinesOf(environment).find((machine) => machine.name.length > 63);
  if (long === undefined) return [];
  return error({
    path: ["cluster", "name"],
    found: `the machine name ${long.name} of ${long.name.length} characters`,
    expected: "host names of at most 63 characters",
    hint: "Shorten the name of the cluster or of the pool.",
  });
};

const patchedMachinesExist: Rule = (environment) => {
  const names = new Set(listedMachinesOf(environment).map((machine) => machine.name));
  return Object.keys(environment.cluster.patches.machines)
    .filter((machine) => !names.has(machine))
    .map((machine) =>
      error({
        path: ["cluster", "patches", "machines", machine],
        found: `patches for ${machine}`,
        expected: "the name of one of this environment's machines",
        hint: `Its machines are ${[...names].slice(0, 6).join(", ")}${names.size > 6 ? ", …" : ""}.`,
      }),
    );
};

const backupsHavePlace: Rule = ({ kind, backup }) =>
  backup === undefined || kind === "aws" || hasPlace(backup)
    ? []
    : error({
        path: ["backup"],
        found: "neither directory nor s3",
        expected: "one of the two",
        hint: "Add directory: backups, or a bucket under s3. Only an environment on AWS makes a bucket of its own.",
      });

export const commonRules = {
  oddControlPlanes,
  supportedKubernetes,
  knownTalos,
  credentialsInState,
  poolNamesUnique,
  poolAddressesDiffer,
  machineNamesFit,
  patchedMachinesExist,
  backupsHavePlace,
  ...clusterRules,
  ...settingsRules,
  ...addonRules,
} as const satisfies Rules;

/** Addresses must not shift when an earlier pool grows, so only the first pool has a default. */
export const furtherPoolsHaveOffsets: Rule = (environment) => {
  if (environment.kind !== "libvirt" && environment.kind !== "container") return [];
  if (environment.kind === "container" && environment.infrastructure.engine !== "docker") return [];
  return environment.workers.map((pool, index) =>
    index === 0 || pool.addressOffset !== undefined
      ? []
      : error({
          path: ["workers", index],
          found: `no addressOffset in the pool ${pool.name}`,
          expected: "an addressOffset in every worker pool after the first",
          hint: `Add one that leaves the pools before it room to grow, such as addressOffset: ${environment.kind === "libvirt" ? 120 : 60}.`,
        }),
  );
};

/** Machines whose certificates are not known beforehand: the file says how they get their initial config. */
export const firstContactChosen: Rule = (environment) => {
  const { kind } = environment;
  if (kind === "simulated" || kind === "metal") return [];
  const problem = firstContactProblem(kind, firstContactOf(environment));
  return problem === undefined ? [] : error({ path: ["infrastructure"], ...problem });
};
