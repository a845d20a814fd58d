// SPDX-License-Identifier: Apache-2.0
import { error, type Rule, type Rules, warning } from "./rule.ts";

const addonNamesUnique: Rule = ({ addons, storage }) =>
  addons.flatMap(({ name }, index) => {
    const first = addons.findIndex((other) => other.name === name);
    const driver = name === "csi-driver-nfs" && storage.nfs !== undefined;
    if (first === index && !driver) return [];
    return error({
      path: ["addons", index, "name"],
      found: `a second add-on named ${name}`,
      expected: "a name of its own for each add-on",
      hint: driver ? "storage.nfs installs it already." : "Rename one of them.",
      also: driver ? ["storage", "nfs"] : ["addons", first],
    });
  });

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

export const addonRules = { addonNamesUnique, addonOrder, podNetwork } as const satisfies Rules;
