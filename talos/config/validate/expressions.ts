// SPDX-License-Identifier: Apache-2.0
import { about, type Faults } from "./findings.ts";

/** What a CEL expression may speak of: variables, and the fields of those that are objects. */
interface Vocabulary {
  readonly variables: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const units = "KiB MiB GiB TiB PiB EiB kB MB GB TB PB EB".split(" ");
const diskFields =
  "size io_size sector_size readonly model serial modalias wwid bus_path sub_system transport rotational cdrom dev_path pretty_size secondary_disks uuid symlinks".split(
    " ",
  );
const volumeFields =
  "size sector_size io_size name uuid label block_size filesystem_block_size probed_size partition_uuid partition_type partition_label partition_index type device_path parent dev_path parent_dev_path pretty_size offset".split(
    " ",
  );
const linkFields =
  "index type link_index flags hardware_addr broadcast_addr mtu queue_disc master_index operational_state kind slave_kind bus_path pciid driver driver_version firmware_version product_id vendor_id product vendor link_state speed_megabits port duplex vlan bridge_master bond_master wireguard permanent_addr alias alt_names vrf_master".split(
    " ",
  );
const cgroupClasses = ["Besteffort", "Burstable", "Guaranteed", "Podruntime", "System"];
const pressures = ["some", "full"].flatMap((kind) =>
  ["avg10", "avg60", "avg300", "total"].map((span) => `memory_${kind}_${span}`),
);
const usages = ["qos_memory_current", "qos_memory_peak", "qos_memory_max"];

const vocabularies = {
  disk: { variables: ["disk", "system_disk", ...units], fields: { disk: diskFields } },
  volume: { variables: ["volume", "disk", ...units], fields: { volume: volumeFields, disk: diskFields } },
  link: { variables: ["link"], fields: { link: linkFields } },
  oomTrigger: {
    variables: [
      ...[...pressures, ...pressures.map((name) => `qos_${name}`), ...usages].flatMap((name) => [name, `d_${name}`]),
      "time_since_trigger",
      ...cgroupClasses,
      ...units,
    ],
    fields: {},
  },
  oomScore: {
    variables: ["memory_max", "memory_current", "memory_peak", "path", "class", ...cgroupClasses, ...units],
    fields: {},
  },
} as const satisfies Record<string, Vocabulary>;

const words = new Set(
  "true false null in bool int uint double string bytes list map duration timestamp type dyn".split(" "),
);
const pairs: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Comments, raw texts, in which a backslash means nothing, and other texts. */
const literals = /\/\/[^\n]*|(?<!\w)b?r("""|'''|"|')[\s\S]*?\1|(?:(?<!\w)b)?("""|'''|"|')(?:\\[\s\S]|[^\\])*?\2/gi;

/**
 * What is wrong with a CEL expression, in the words of Talos where they are simple: an open quote or bracket, a name
 * that is not known, a field that does not exist. Types are checked by the machine itself.
 */
export function expressionFault(text: string, vocabulary: keyof typeof vocabularies): string | undefined {
  // What is no code is blanked, so that positions stay.
  const bare = text.replace(literals, (literal) =>
    literal.startsWith("//") ? " ".repeat(literal.length) : `"${"_".repeat(literal.length - 2)}"`,
  );
  return (
    syntaxFault(text, bare) ??
    nameFault(
      text,
      bare.replace(/"_*"/g, (blank) => " ".repeat(blank.length)),
      vocabularies[vocabulary],
    )
  );
}

/** Of an expression that is required: that it is not there, or what is wrong with it. */
export function* selectorFaults(
  text: string,
  vocabulary: keyof typeof vocabularies,
  title: string,
  invalid = `${title} is invalid`,
): Faults {
  if (text === "") yield `${title} is required`;
  else yield* about(invalid, expressionFault(text, vocabulary));
}

function syntaxFault(text: string, bare: string): string | undefined {
  const open: { readonly character: string; readonly at: number }[] = [];
  const stray = bare.replace(/"_*"/g, (blank) => " ".repeat(blank.length)).search(/["']/);
  if (stray >= 0) return located(text, stray, `Syntax error: token recognition error at: '${text.slice(stray)}'`);
  for (const [at, character] of [...bare].entries()) {
    if ("([{".includes(character)) open.push({ character, at });
    const opening = pairs[character];
    if (opening !== undefined && open.pop()?.character !== opening) {
      return located(text, at, `Syntax error: extraneous input '${character}'`);
    }
  }
  const last = open.pop();
  if (last !== undefined) {
    const closing = Object.keys(pairs).find((key) => pairs[key] === last.character);
    return located(text, text.length, `Syntax error: missing '${closing}' at '<EOF>'`);
  }
  if (!/(?:&&|\|\||[=!<>]=|[<>+*/%.-])\s*$/.test(bare)) return undefined;
  return located(text, text.length, "Syntax error: mismatched input '<EOF>'");
}

function nameFault(text: string, bare: string, vocabulary: Vocabulary): string | undefined {
  // Macros such as list.exists(x, …) bring their own variable.
  const bound = [...bare.matchAll(/\.\s*(?:all|exists|exists_one|map|filter)\s*\(\s*([A-Za-z_]\w*)\s*,/g)].map(
    (match) => match[1],
  );
  for (const match of bare.matchAll(/(?<!\.\s*|[\w`])[A-Za-z_]\w*/g)) {
    const [name] = match;
    const after = bare.slice(match.index + name.length);
    if (words.has(name) || bound.includes(name) || /^\s*\(/.test(after)) continue;
    if (!vocabulary.variables.includes(name)) {
      return located(text, match.index, `undeclared reference to '${name}' (in container '')`);
    }
    const [, space = "", field] = /^(\s*)\.\s*([A-Za-z_]\w*)(?!\w*\s*\()/.exec(after) ?? [];
    const known = vocabulary.fields[name];
    if (field !== undefined && known !== undefined && !known.includes(field)) {
      return located(text, match.index + name.length + space.length, `undefined field '${field}'`);
    }
  }
  return undefined;
}

function located(text: string, at: number, message: string): string {
  return `ERROR: <input>:1:${at + 1}: ${message}\n | ${text}\n | ${".".repeat(at)}^`;
}
