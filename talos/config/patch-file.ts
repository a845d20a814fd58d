// SPDX-License-Identifier: Apache-2.0
import { parsePatchFile } from "../disk-key-file.ts";
import { TalosError } from "../errors.ts";
import type { Contract } from "../version/index.ts";
import { stringifyYaml } from "../yaml/index.ts";
import { parsePatch } from "./patch/apply.ts";
import { observedRules } from "./rules.ts";

/**
 * The patch that a file stands for, in the form that the release reads. Secret: what it throws names file and line, and
 * never what the file holds.
 */
export function patchOfFile(name: string, text: string, contract: Contract): string {
  const { path, key } = parsePatchFile(name);
  if (key === undefined) return checkedPatch(path, text);
  // Editors and `openssl rand` end the line, and the passphrase with it.
  const passphrase = text.replace(/[\r\n]+$/, "");
  if (passphrase === "" || /[\r\n]/.test(passphrase)) {
    throw new TalosError("invalid-input", `${path}: found ${passphrase === "" ? "nothing" : "several lines"}`, {
      hint: "Put the passphrase of the disk there, alone on one line: openssl rand -base64 32",
    });
  }
  const encryption = { provider: "luks2", keys: [{ slot: key.slot, static: { passphrase } }] };
  return stringifyYaml(
    contract.encryptionDocuments
      ? { apiVersion: "v1alpha1", kind: "VolumeConfig", name: key.volume, encryption }
      : { machine: { systemDiskEncryption: { [key.volume.toLowerCase()]: encryption } } },
  );
}

function checkedPatch(path: string, text: string): string {
  try {
    // Whether its kinds are known is told where the config is made, which knows the release.
    parsePatch(text, path, observedRules);
    return text;
  } catch (error) {
    // Not as a cause either: the parser quotes the line.
    const line = /line \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw new TalosError("invalid-input", `${path}${line === undefined ? "" : `, ${line}`}: not a config patch`, {
      hint: `What it holds is secret and is not shown here. Check it with: talosctl machineconfig patch <config> --patch @${path}`,
    });
  }
}
