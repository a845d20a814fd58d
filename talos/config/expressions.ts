// SPDX-License-Identifier: Apache-2.0

/** Which disk, as machine.install.diskSelector says it. Texts may hold `*`. */
export interface DiskSelection {
  readonly size?: string | undefined;
  readonly model?: string | undefined;
  readonly serial?: string | undefined;
  readonly modalias?: string | undefined;
  readonly uuid?: string | undefined;
  readonly wwid?: string | undefined;
  readonly type?: string | undefined;
  readonly busPath?: string | undefined;
}

const texts = ["model", "serial", "modalias", "uuid", "wwid"] as const;
const types: Readonly<Record<string, string>> = {
  nvme: 'disk.transport == "nvme"',
  sd: 'disk.transport == "mmc"',
  hdd: "disk.rotational",
  ssd: "!disk.rotational",
};
const known: ReadonlySet<string> = new Set([...texts, "size", "type", "busPath"]);

/** Whether a selector has only fields that an expression can say. */
export function isExpressible(selector: object): selector is DiskSelection {
  return Object.keys(selector).every((key) => known.has(key));
}

/** A selector as the expression that newer configs have in its place. */
export function selectorExpression(selector: DiskSelection): string {
  const size = /^(<=|>=|<|>|==)?\s*(\d+)\s*(\w+)$/.exec(selector.size ?? "");
  const text = (field: string, value: string | undefined) =>
    value && (value.includes("*") ? `glob(${quoted(value)}, disk.${field})` : `disk.${field} == ${quoted(value)}`);
  const terms = [
    size && `disk.size ${size[1] ?? "=="} ${size[2]}u * ${size[3]?.replace(/^KB$/, "kB")}`,
    ...texts.map((field) => text(field, selector[field])),
    selector.type && types[selector.type],
    text("bus_path", selector.busPath),
  ];
  return terms.filter(Boolean).join(" && ");
}

/** The expression that selects the disk at a path. */
export function deviceExpression(path: string): string {
  return `disk.dev_path == ${quoted(path)}`;
}

/** The expression that selects a link by the address of its hardware. */
export function hardwareExpression(address: string): string {
  return `mac(link.permanent_addr) == ${quoted(address.toLowerCase())}`;
}

const quoted = (text: string) => JSON.stringify(text);
