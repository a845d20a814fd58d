// SPDX-License-Identifier: Apache-2.0
export { compareKeys } from "./key-order.ts";
export {
  type Data,
  dataAt,
  faultAt,
  isData,
  nodeAt,
  parseYaml,
  parseYamlDocument,
  scalarValue,
  toPlainData,
  type YamlEntry,
  type YamlLimits,
  type YamlMapping,
  type YamlNode,
  type YamlScalar,
  type YamlSequence,
} from "./parse.ts";
export {
  isFormerBoolean,
  isSexagesimal,
  resolvePlainScalar,
  type ScalarValue,
  YamlFloat,
  YamlPlain,
} from "./scalar.ts";
export {
  compactLayout,
  plainDataOf,
  stringifyYaml,
  stringifyYamlDocuments,
  type YamlLayout,
  type YamlValue,
} from "./stringify.ts";
