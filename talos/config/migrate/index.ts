// SPDX-License-Identifier: Apache-2.0
// Configs and their patches in the form of a newer contract.
export { afterPatch, type LeftPart, type MigratedPatch, type MovedPart, migratePatch } from "./migrate-patch.ts";
export { hasLinkDocuments, type NewDefault, newDefaults, wordsOf } from "./new-defaults.ts";
export { patchNodes, writeNodes } from "./nodes.ts";
export { redactPatchText } from "./redact-text.ts";
export { releaseChanges, releaseChangesTitle, type UpgradedMachine } from "./release-changes.ts";
export type { MigrationTarget } from "./rules.ts";
export {
  type ChangesByEffect,
  type Comparison,
  changesByEffect,
  compareMeaning,
  withoutEffectInWords,
} from "./same-meaning.ts";
export { contractOfKind, writtenAs } from "./written-as.ts";
