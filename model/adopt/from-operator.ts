// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { filled, given } from "../../talos/given.ts";
import { parseSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { type Data, isData, parseYaml, toPlainData } from "../../talos/yaml/index.ts";
import { type FieldTable, operatorFields } from "./operator-fields.ts";
import { addonOf, backupOf, type OperatorObject } from "./operator-sections.ts";
import { type AdoptSource, refuse, type SourceFile, textAt } from "./source.ts";

const group = "talos.alperen.cloud/";

/** Objects of talos-operator, as `kubectl get -o yaml` prints them. Each field is mapped, or refused by its name. */
export function fromOperator(files: readonly SourceFile[]): AdoptSource {
  const objects = files.flatMap(objectsIn);
  const notes: string[] = [];
  for (const object of objects) checkFields(object, notes);
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const clusters = of("TalosCluster");
  if (clusters.length > 1)
    throw new TalosError(
      "invalid-input",
      `found several TalosClusters: ${clusters.map(({ where }) => where).join("; ")}`,
      {
        hint: "Adopt one at a time: give only the objects of one cluster.",
      },
    );
  const planes = [...of("TalosControlPlane").map(({ spec }) => spec), ...inline(clusters, "controlPlane")];
  const workers = [...of("TalosWorker").map(({ spec }) => spec), ...inline(clusters, "worker")];
  const machines = of("TalosMachine").flatMap(({ spec }) => textAt(spec, "endpoint") ?? []);
  const addresses = [...new Set([...[...planes, ...workers].flatMap(addressesOf), ...machines])];
  const secrets = of("TalosControlPlane").flatMap((object) => bundleOf(object) ?? [])[0];
  const addons = addonsOf(objects, clusters[0]);
  const backup = backupOf(of("TalosEtcdBackupSchedule"), of("TalosEtcdBackup"), notes);
  return {
    ...given({ secrets }),
    addresses,
    sections: given({ addons: filled(addons), backup }),
    notes: [
      ...new Set(notes),
      "When the plan is empty, stop the operator before it changes the machines again, and delete its objects without their finalizers.",
    ],
  };
}

function objectsIn({ name: file, text }: SourceFile): readonly OperatorObject[] {
  const documents = parseYaml(text, file).map(toPlainData).filter(isData);
  const all = documents.flatMap((document) =>
    document.kind === "List" && Array.isArray(document.items) ? document.items.filter(isData) : [document],
  );
  return all.map((document) => {
    const kind = textAt(document, "kind") ?? "";
    const name = textAt(document, "metadata", "name") ?? "";
    const where = `${file}: ${kind} ${name}`;
    if (!(textAt(document, "apiVersion") ?? "").startsWith(group) || operatorFields[kind] === undefined)
      throw new TalosError("invalid-input", `${where}: found no object of talos-operator`, {
        hint: `Expected one of ${Object.keys(operatorFields).join(", ")} of ${group}v1alpha1.`,
      });
    const { spec, status, metadata } = document;
    const labels = isData(metadata) && isData(metadata.labels) ? metadata.labels : {};
    return { where, kind, name, labels, spec: isData(spec) ? spec : {}, status: isData(status) ? status : {} };
  });
}

/** Goes over every field that is set, at any depth. */
function checkFields({ where, kind, spec }: OperatorObject, notes: string[]): void {
  const visit = (value: Data, table: FieldTable, path: string) => {
    for (const [key, inner] of Object.entries(value)) {
      const rule = table[key];
      const at = `${path}.${key}`;
      if (rule === undefined) throw refuse(where, at, "this field is not known");
      if (inner === null || inner === undefined) continue;
      if (typeof rule === "object") {
        for (const item of Array.isArray(inner) ? inner : [inner]) if (isData(item)) visit(item, rule, at);
      } else if (typeof rule === "function") {
        const outcome = rule(inner);
        if (outcome?.refused !== undefined) throw refuse(where, at, outcome.refused, outcome.hint);
        if (outcome?.note !== undefined) notes.push(`${where}: ${at}: ${outcome.note}`);
      }
    }
  };
  visit(spec, operatorFields[kind] ?? {}, "spec");
}

function inline(clusters: readonly OperatorObject[], key: "controlPlane" | "worker"): readonly Data[] {
  return clusters.flatMap(({ spec }) => (isData(spec[key]) ? [spec[key]] : []));
}

function addressesOf(spec: Data): readonly string[] {
  const machines = isData(spec.metalSpec) ? spec.metalSpec.machines : undefined;
  return Array.isArray(machines) ? machines.flatMap((machine) => textAt(machine, "address") ?? []) : [];
}

function bundleOf({ where, status }: OperatorObject): SecretsBundle | undefined {
  const text = textAt(status, "secretBundle");
  return text === undefined ? undefined : parseSecrets(text, `${where}: status.secretBundle`);
}

/** Add-ons that are for this cluster; a release is newer than the add-on that it was made from. */
function addonsOf(objects: readonly OperatorObject[], cluster: OperatorObject | undefined): readonly object[] {
  const chosen = objects.filter(({ kind, spec }) => {
    if (kind === "TalosClusterAddon") return selects(spec.clusterSelector, cluster?.labels ?? {});
    return (
      kind === "TalosClusterAddonRelease" &&
      (cluster === undefined || textAt(spec, "clusterRef", "name") === cluster.name)
    );
  });
  const byName = new Map(
    chosen.map((object) => {
      const addon = addonOf(object);
      return [addon.name, addon] as const;
    }),
  );
  return [...byName.values()];
}

function selects(selector: unknown, labels: Data): boolean {
  const wanted = isData(selector) && isData(selector.matchLabels) ? selector.matchLabels : {};
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
