// SPDX-License-Identifier: Apache-2.0
import { filled, given } from "../../talos/given.ts";
import { type Data, isData, parseYamlDocument, toPlainData } from "../../talos/yaml/index.ts";
import { refuse, textAt } from "./source.ts";

/** An object of talos-operator, by what messages call it. */
export interface OperatorObject {
  readonly where: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: Data;
  readonly spec: Data;
  readonly status: Data;
}

/** A Helm release as `addons` has it. */
export function addonOf({ where, spec }: OperatorObject): { readonly name: string } & Data {
  const helm = isData(spec.helmSpec) ? spec.helmSpec : {};
  const need = (field: string) => {
    const text = textAt(helm, field);
    if (text === undefined) throw refuse(where, `spec.helmSpec.${field}`, "found nothing, expected a text");
    return text;
  };
  const [chart, repository] = [need("chartName"), need("repoURL")];
  const isOci = repository.startsWith("oci://");
  const version = textAt(helm, "version");
  const values = valuesOf(where, textAt(helm, "valuesTemplate"));
  const options = isData(helm.options) ? helm.options : {};
  const timeout = textAt(options, "timeout");
  return {
    // Without a name the operator makes one up; only the release itself knows it.
    name: need("releaseName"),
    namespace: textAt(helm, "namespace") ?? "default",
    ...(isOci ? { chart: `${repository.replace(/\/$/, "")}/${chart}` } : { chart, repository }),
    ...given({ version, values: filled(values), wait: options.wait === false ? false : undefined, timeout }),
  };
}

function valuesOf(where: string, template: string | undefined): Data {
  if (template === undefined) return {};
  const path = "spec.helmSpec.valuesTemplate";
  if (template.includes("{{"))
    throw refuse(where, path, "found Go templating", "Write the values as the operator fills them in.");
  const values = toPlainData(parseYamlDocument(template, `${where}: ${path}`));
  if (!isData(values)) throw refuse(where, path, "found no map of values");
  return values;
}

const usualRetention = 5;

/** Where backups go and when, as `backup` has it. Several must agree on the bucket. */
export function backupOf(
  schedules: readonly OperatorObject[],
  backups: readonly OperatorObject[],
  notes: string[],
): object | undefined {
  const [schedule, ...others] = schedules;
  if (others.length > 0)
    throw refuse(others[0]?.where ?? "", "spec.schedule", "an environment has one schedule", "Give only one of them.");
  const template = isData(schedule?.spec.backupTemplate) ? schedule.spec.backupTemplate.spec : undefined;
  const storage = s3Of(template) ?? backups.map(({ spec }) => s3Of(spec)).find((s3) => s3 !== undefined);
  if (storage === undefined) return undefined;
  if (schedule === undefined) return { s3: storage };
  if (schedule.spec.paused === true) notes.push(`${schedule.where}: it is paused, so the schedule was left out`);
  const { retention } = schedule.spec;
  return given({
    s3: storage,
    schedule: schedule.spec.paused === true ? undefined : textAt(schedule.spec, "schedule"),
    keep: { count: typeof retention === "number" ? retention : usualRetention },
  });
}

function s3Of(spec: unknown): Data | undefined {
  const storage = isData(spec) && isData(spec.backupStorage) ? spec.backupStorage.s3 : undefined;
  const bucket = textAt(storage, "bucket");
  if (bucket === undefined) return undefined;
  const [region, endpoint] = [textAt(storage, "region"), textAt(storage, "endpoint")];
  return { bucket, ...given({ region, endpoint }) };
}
