// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../environment/environment.ts";
import { error, type Rule, type Rules, warning } from "./rule.ts";

const addonNamesUnique: Rule = (environment) => {
  const { addons } = environment;
  return addons.flatMap(({ name }, index) => {
    const first = addons.findIndex((other) => other.name === name);
    const installer = installerOf(environment, name);
    if (first === index && installer === undefined) return [];
    return error({
      path: ["addons", index, "name"],
      found: `a second add-on named ${name}`,
      expected: "a name of its own for each add-on",
      hint: installer === undefined ? "Rename one of them." : `${installer.join(".")} installs it already.`,
      also: installer ?? ["addons", first],
    });
  });
};

/** The setting that installs an add-on of this name without being listed. */
function installerOf({ kind, infrastructure, storage }: Environment, name: string): readonly string[] | undefined {
  if (name === "csi-driver-nfs") return storage.nfs && ["storage", "nfs"];
  if (kind !== "aws") return undefined;
  const setting = {
    "aws-cloud-controller-manager": "cloudControllerManager",
    "aws-ebs-csi-driver": "ebsCsi",
    "cluster-autoscaler": "clusterAutoscaler",
  } as const;
  const key = setting[name as keyof typeof setting];
  return key !== undefined && infrastructure[key] ? ["infrastructure", key] : undefined;
}

const addonsNeedKubernetes: Rule = ({ addons, storage, rollout }) => {
  if (rollout.healthLevel !== "talos" || (addons.length === 0 && storage.nfs === undefined)) return [];
  return error({
    path: ["rollout", "healthLevel"],
    found: "talos, and add-ons",
    expected: "full or api, because add-ons are installed through the Kubernetes API",
    hint: "Change it, or remove the add-ons.",
    also: addons.length === 0 ? ["storage", "nfs"] : ["addons", 0],
  });
};

const addonOrder: Rule = ({ addons }) => {
  const names = new Set(addons.map(({ name }) => name));
  const missing = addons.flatMap(({ after }, index) =>
    after.flatMap((name, place) =>
      names.has(name)
        ? []
        : error({
            path: ["addons", index, "after", place],
            found: name,
            expected: "the name of another add-on",
            hint: `They are ${[...names].join(", ")}.`,
          }),
    ),
  );
  if (missing.length > 0) return missing;
  // What can go in goes in, again and again; what is left waits for each other.
  const waiting = new Map(addons.map((addon) => [addon.name, addon.after]));
  for (let before = -1; before !== waiting.size; ) {
    before = waiting.size;
    for (const [name, after] of waiting) if (!after.some((other) => waiting.has(other))) waiting.delete(name);
  }
  const index = addons.findIndex(({ name }) => waiting.has(name));
  if (index < 0) return [];
  return error({
    path: ["addons", index, "after"],
    found: `${[...waiting.keys()].join(", ")}, which wait for each other`,
    expected: "an order",
    hint: "Take one of them out of an after.",
  });
};

const podNetwork: Rule = ({ addons, cluster, controlPlane }) => {
  if (controlPlane === undefined) return [];
  const networks = addons.flatMap(({ cni }, index) => (cni ? [index] : []));
  if (cluster.cni !== "none") {
    return networks.map((index) =>
      error({
        path: ["addons", index, "cni"],
        found: "an add-on that brings the pod network",
        expected: "none, because the cluster has one",
        hint: "Set cluster.cni to none, or take cni: true away.",
        also: ["cluster", "cni"],
      }),
    );
  }
  if (networks.length > 0) return [];
  return warning({
    path: ["cluster", "cni"],
    found: "no pod network",
    expected: "an add-on with cni: true",
    hint: "Without one the nodes stay not ready until somebody installs one by hand.",
  });
};

export const addonRules = { addonNamesUnique, addonsNeedKubernetes, addonOrder, podNetwork } as const satisfies Rules;
