// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { parseMetaKey } from "../talos/meta-key.ts";
import { parseYaml, toPlainData } from "../talos/yaml/index.ts";
import { isMapping } from "./nocloud.ts";
import { fillTemplate, type TemplateValue } from "./yaml-template.ts";

/** What templates of META values may use; what a machine has not is not known to its templates. */
export interface MetaMachine {
  readonly hostname: string;
  readonly address: string;
  readonly role: string;
  readonly cluster: string;
  /** The address with its prefix length. */
  readonly cidr?: string | undefined;
  readonly gateway?: string | undefined;
  readonly nameservers?: readonly string[] | undefined;
  readonly mac?: string | undefined;
  readonly link?: string | undefined;
}

/** Where Talos on metal reads network settings that hold before there is a config. */
const networkKey = 10;

/** The values of a machine's META by key in decimal. Templates of the machine win over those for all machines. */
export function renderMeta(
  machine: MetaMachine,
  ...templates: readonly Readonly<Record<string, string>>[]
): Readonly<Record<string, string>> {
  const values = given(machine) as Readonly<Record<string, TemplateValue>>;
  const chosen = new Map<number, string>();
  for (const [text, template] of templates.flatMap((each) => Object.entries(each))) {
    const key = parseMetaKey(text);
    if (key === undefined)
      throw new TalosError("invalid-input", `${machine.hostname}: ${text} is no key of META, expected 0 to 255`);
    chosen.set(key, template);
  }
  const rendered = [...chosen]
    .sort(([left], [right]) => left - right)
    .map(([key, template]) => [String(key), render(machine.hostname, key, template, values)] as const);
  return Object.fromEntries(rendered);
}

function render(
  hostname: string,
  key: number,
  template: string,
  values: Readonly<Record<string, TemplateValue>>,
): string {
  const name = `META key ${key} of ${hostname}`;
  const text = fillTemplate(template, name, values);
  if (key !== networkKey || text === "") return text;
  const [first, ...others] = parseYaml(text, name).map(toPlainData);
  if (isMapping(first) && others.length === 0) return text;
  throw new TalosError("invalid-input", `${name}: found no mapping, which network settings are`, {
    hint: "Write keys such as addresses, links, routes and resolvers.",
  });
}
