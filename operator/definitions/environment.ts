// SPDX-License-Identifier: Apache-2.0
import { environmentReference, type Kind, kindNames } from "../../model/index.ts";
import { clusterSettings, fileRows } from "../../model/settings/index.ts";
import { isSchema, merged, propertiesOf, type Schema, structural } from "./structural.ts";

/** Fields of the environment that name files of a project, or say what the operator decides by other means. */
const filesOnly: Readonly<Record<string, readonly string[]>> = {
  cluster: ["patchFiles"],
  operate: ["repair"],
  addons: ["valuesFiles"],
};

const reference = environmentReference();

/** The environment's sections as fields of a spec; `secrets` and `outputs` are files, which objects do not have. */
export function sectionFields(): Readonly<Record<string, Schema>> {
  const sections = [...reference.sections].filter(([name]) => !["secrets", "outputs"].includes(name));
  return Object.fromEntries(sections.map(([name, schema]) => [name, sectionField(name, schema as Schema)]));
}

function sectionField(name: string, schema: Schema): Schema {
  const field = without(structural(schema), filesOnly[name] ?? []);
  if (name !== "cluster") return field;
  const description = "What the cluster is, whatever it runs on.";
  return { ...field, description, default: {}, "x-kubernetes-validations": clusterRules() };
}

/** The fields of one add-on. */
export function addonFields(): Readonly<Record<string, Schema>> {
  const items = sectionFields().addons?.items;
  return propertiesOf(isSchema(items) ? items : {});
}

/** What a kind of infrastructure has, for all kinds at once. */
export function infrastructureField(): Schema {
  const variants = new Map(kindNames.map((kind) => [kind, part(kind, "infrastructure")]));
  const field = merged([...variants.values()]);
  const { kind, ...others } = propertiesOf(field);
  return {
    ...field,
    properties: { kind: { ...kind, description: "Kind of infrastructure." }, ...others },
    description: "What the machines are.",
    "x-kubernetes-validations": [
      { rule: "self.kind == oldSelf.kind", message: "kind can't be changed after creation", fieldPath: ".kind" },
      ...kindRules(variants, propertiesOf(field)),
    ],
  };
}

/** A pool of the control plane or of workers, for all kinds at once. */
export function poolField(role: "controlPlane" | "workers[]"): Schema {
  return merged(kindNames.map((kind) => part(kind, role)));
}

const part = (kind: Kind, name: string): Schema => structural(reference.kinds.get(kind)?.get(name) as Schema);

function without(schema: Schema, names: readonly string[]): Schema {
  if (names.length === 0) return schema;
  if (isSchema(schema.items)) return { ...schema, items: without(schema.items, names) };
  const kept = Object.entries(propertiesOf(schema)).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(kept) };
}

interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
}

/** Rules do not see what has no type, nor lists and maps of it. */
function isSeen({ type, items, additionalProperties, properties }: Schema): boolean {
  if (isSchema(items)) return isSeen(items);
  if (isSchema(additionalProperties)) return isSeen(additionalProperties);
  return type !== undefined && (type !== "object" || properties !== undefined);
}

/** Fields that a kind does not have, or that it requires. */
function kindRules(variants: ReadonlyMap<Kind, Schema>, fields: Readonly<Record<string, Schema>>): readonly Rule[] {
  const all = Object.keys(fields).filter((name) => isSeen(fields[name] ?? {}));
  return [...variants].flatMap(([kind, variant]): Rule[] => {
    const others = all.filter((name) => propertiesOf(variant)[name] === undefined);
    const required = Array.isArray(variant.required)
      ? variant.required.filter((name) => name !== "kind" && all.includes(String(name)))
      : [];
    const has = others.map((name) => `has(self.${name})`).join(" || ");
    const allowed = Object.keys(propertiesOf(variant)).join(", ");
    return [
      {
        rule: `self.kind != '${kind}' || !(${has})`,
        message: `infrastructure of kind ${kind} may have only: ${allowed}`,
      },
      ...required.map((name) => ({
        rule: `self.kind != '${kind}' || has(self.${String(name)})`,
        message: `infrastructure of kind ${kind} requires ${String(name)}`,
      })),
    ];
  });
}

/** What a running cluster cannot change: the rows of the table of settings that are fixed, and versions that only go up. */
function clusterRules(): readonly Rule[] {
  const fixed = fileRows(clusterSettings).flatMap(([name, row]) => (row.fixed ? [unchanged(name)] : []));
  return [...fixed, talosUpgrade, kubernetesUpgrade, keptVersion];
}

/** The parts of a version as numbers; what follows a hyphen is left out. */
const parts = (version: string) => `${version}.split('-')[0].split('.').map(part, int(part))`;

const talosUpgrade: Rule = {
  rule: `!has(self.talosVersion) || !has(oldSelf.talosVersion) || ${isNotOlder("self.talosVersion.substring(1)", "oldSelf.talosVersion.substring(1)")}`,
  messageExpression: "'talosVersion goes up only: the cluster has ' + oldSelf.talosVersion",
  message: "talosVersion goes up only",
  fieldPath: ".talosVersion",
};

const kubernetesUpgrade: Rule = {
  rule: `!has(self.kubernetesVersion) || !has(oldSelf.kubernetesVersion) || [${parts("self.kubernetesVersion")}].all(now, [${parts("oldSelf.kubernetesVersion")}].all(before, now[0] == before[0] && now[1] >= before[1] && now[1] <= before[1] + 1))`,
  messageExpression:
    "'kubernetesVersion goes up by one minor release at a time: the cluster has ' + oldSelf.kubernetesVersion",
  message: "kubernetesVersion goes up by one minor release at a time",
  fieldPath: ".kubernetesVersion",
};

/** A field that stays what it was; the language of rules has words of its own, such as namespace. */
export function unchanged(name: string): Rule {
  const field = name === "namespace" ? "__namespace__" : name;
  return {
    rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message: `${name} can't be changed after creation`,
    fieldPath: `.${name}`,
  };
}

const keptVersion: Rule = {
  rule: "!has(oldSelf.kubernetesVersion) || has(self.kubernetesVersion)",
  message: "kubernetesVersion can't be removed",
  fieldPath: ".kubernetesVersion",
};

function isNotOlder(now: string, before: string): string {
  const newer =
    "now[0] > before[0] || (now[0] == before[0] && (now[1] > before[1] || (now[1] == before[1] && now[2] >= before[2])))";
  return `[${parts(now)}].all(now, [${parts(before)}].all(before, ${newer}))`;
}
