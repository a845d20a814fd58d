// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { TalosError } from "../talos/errors.ts";
import { dataAt } from "../talos/yaml/index.ts";

export const backupType = "talosmith_etcd_snapshot";

const values = z.record(z.string(), z.unknown()).nullable().default(null);

const actions = z.array(z.enum(["no-op", "create", "read", "update", "delete", "forget"]));

const resourceChange = z.object({
  address: z.string(),
  mode: z.enum(["managed", "data"]).default("managed"),
  type: z.string(),
  change: z.object({
    actions,
    before: values,
    after: values,
    after_unknown: z.union([z.boolean().transform(() => ({})), z.record(z.string(), z.unknown())]).default({}),
    replace_paths: z.array(z.array(z.union([z.string(), z.number()]))).default([]),
  }),
});

const planFile = z.object({
  format_version: z.string().regex(/^1\./),
  terraform_version: z.string().optional(),
  resource_changes: z.array(resourceChange).default([]),
  resource_drift: z.array(resourceChange).default([]),
  relevant_attributes: z
    .array(z.object({ resource: z.string(), attribute: z.array(z.union([z.string(), z.number()])) }))
    .default([]),
  complete: z.boolean().default(true),
  errored: z.boolean().default(false),
});

export type Values = Readonly<Record<string, unknown>>;
export type Action = "create" | "update" | "replace" | "delete" | "forget";

/** What a plan does to one resource. */
export interface Change {
  readonly address: string;
  readonly type: string;
  readonly action: Action;
  /** Null before a create. */
  readonly before: Values | null;
  /** Null after a delete. */
  readonly after: Values | null;
  /** What is known only after the apply, by attribute. */
  readonly unknown: Values;
  /** The attributes because of which it is replaced, such as `root_block_device.0.encrypted`. */
  readonly replacedFor: readonly string[];
}

export interface Plan {
  readonly changes: readonly Change[];
  /** Resources that were changed outside of Terraform: ours, and of others those whose changes the plan depends on, as terraform shows. */
  readonly drifted: readonly string[];
  /** Every managed resource with its values before the apply, changed or not. */
  readonly before: readonly { readonly address: string; readonly type: string; readonly values: Values }[];
  /** A plan was compared with what there is; a stack says what there will be, as if there were nothing yet. */
  readonly basis: "plan" | "stack";
  readonly complete: boolean;
  readonly errored: boolean;
}

/** A change that no other program planned. `values` are what is there before or afterwards; of an update, both. */
export function changeOf(
  type: string,
  name: string,
  action: "create" | "update" | "delete",
  values: NonNullable<Change["after"]>,
): Change {
  const [before, after] = [action === "create" ? null : values, action === "delete" ? null : values];
  return { address: name, type, action, before, after, unknown: {}, replacedFor: [] };
}

/** A plan of these changes alone. */
export function planWith(changes: readonly Change[]): Plan {
  return { changes, drifted: [], before: [], basis: "plan", complete: true, errored: false };
}

/** Reads what `terraform show -json` or `tofu show -json` prints for a saved plan. */
export function parsePlan(text: string, file: string): Plan {
  const parsed = planFile.safeParse(parseJson(text, file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(".") || "the whole file";
    throw notAPlan(`${file}: this is not a plan in JSON: ${place}: ${issue?.message ?? "unreadable"}`);
  }
  const { resource_changes, resource_drift, relevant_attributes, complete, errored } = parsed.data;
  const managed = resource_changes.filter(({ mode }) => mode === "managed");
  return {
    changes: managed.flatMap(({ address, type, change }) => {
      const action = actionOf(change.actions);
      if (action === undefined) return [];
      const { before, after, after_unknown: unknown, replace_paths: paths } = change;
      return [{ address, type, action, before, after, unknown, replacedFor: paths.map((path) => path.join(".")) }];
    }),
    drifted: resource_drift
      .filter((found) => found.mode === "managed" && isTold(found, relevant_attributes))
      .map(({ address }) => address),
    before: managed.flatMap(({ address, type, change }) =>
      change.before === null ? [] : [{ address, type, values: change.before }],
    ),
    basis: "plan",
    complete,
    errored,
  };
}

function isTold(
  { address, type, change: { before, after } }: z.output<typeof resourceChange>,
  relevant: z.output<typeof planFile>["relevant_attributes"],
): boolean {
  // A newer backup stands in for one that was pruned.
  if (type === backupType && after !== null) return false;
  if (type.startsWith("talosmith_")) return true;
  return relevant.some(
    ({ resource, attribute }) =>
      resource === address && !isDeepStrictEqual(dataAt(before, attribute), dataAt(after, attribute)),
  );
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notAPlan(`${file}: this is not JSON`, cause);
  }
}

function notAPlan(message: string, cause?: unknown): TalosError {
  const hint =
    "Make it with: terraform plan -out=plan && terraform show -json plan > plan.json (or the same with tofu).";
  return new TalosError("invalid-input", message, { hint, cause });
}

/** Terraform tells a replacement as two actions, in the order in which it does them. */
function actionOf(found: readonly string[]): Action | undefined {
  const [first, second] = found;
  if (second !== undefined) return "replace";
  return first === "create" || first === "update" || first === "delete" || first === "forget" ? first : undefined;
}

/** The names of the attributes that an update or a replacement changes: names only, since values may be secret. */
export function changedAttributes({ before, after, unknown }: Change): readonly string[] {
  if (before === null || after === null) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(unknown)]);
  return [...names]
    .filter((name) => isUnknown(unknown[name]) || !isDeepStrictEqual(before[name] ?? null, after[name] ?? null))
    .sort();
}

/** Terraform marks what it does not know yet with `true`, however deep inside of a value. */
function isUnknown(mark: unknown): boolean {
  if (typeof mark === "object" && mark !== null) return Object.values(mark).some(isUnknown);
  return mark === true;
}

export const levels = ["caution", "danger"] as const;

/** A danger may lose data, access or quorum; a caution deserves a look. */
export type Level = (typeof levels)[number];

/** One reason for a person to look before this plan is applied. */
export interface Finding {
  readonly level: Level;
  /** The kind of trouble in two or three words, the same for all of a kind. */
  readonly title: string;
  readonly address: string;
  readonly sentence: string;
}

/** Looks at a whole plan for one kind of trouble. */
export type Rule = (plan: Plan) => readonly Finding[];
