// SPDX-License-Identifier: Apache-2.0
import { armor, Decrypter, Encrypter } from "age-encryption";
import { TalosError } from "../errors.ts";
import { ageHeads, readSecretBytes } from "./file.ts";

/** The text in an age file, armored or not, by the first of these identities (`AGE-SECRET-KEY-1…`) that opens it. */
export async function openAge(path: string, identities: readonly string[]): Promise<string> {
  if (identities.length === 0) {
    throw new TalosError("failed-precondition", `${path}: no age identity to decrypt the secrets with`, {
      hint: "Name your key file with SOPS_AGE_KEY_FILE, or the key with SOPS_AGE_KEY.",
    });
  }
  const decrypter = new Decrypter();
  for (const [index, identity] of identities.entries()) addIdentity(decrypter, identity, index);
  const sealed = await readSecretBytes(path);
  const text = sealed.toString("utf8");
  try {
    return await decrypter.decrypt(text.startsWith(ageHeads.binary) ? sealed : armor.decode(text), "text");
  } catch (cause) {
    throw new TalosError("permission-denied", `${path}: none of the age identities opens the file`, {
      hint: "Use the identity of one of its recipients.",
      cause,
    });
  }
}

/** Told by its place: the error must not repeat a key. */
function addIdentity(decrypter: Decrypter, identity: string, index: number): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    throw new TalosError("invalid-input", `age identity ${index + 1} cannot be read`, {
      hint: "An identity is a line that begins with AGE-SECRET-KEY-1, in SOPS_AGE_KEY or SOPS_AGE_KEY_FILE.",
    });
  }
}

/** The text as an armored age file for these recipients (`age1…`). `what` names it in errors. */
export async function sealAge(text: string, recipients: readonly string[], what: string): Promise<string> {
  if (recipients.length === 0) {
    throw new TalosError("failed-precondition", `${what}: no age recipient to encrypt the secrets for`, {
      hint: "Name at least one recipient (age1…).",
    });
  }
  const encrypter = new Encrypter();
  for (const recipient of recipients) addRecipient(encrypter, recipient);
  return armor.encode(await encrypter.encrypt(text));
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    const message = `${JSON.stringify(recipient)} is not an age recipient`;
    throw new TalosError("invalid-input", message, { hint: "A recipient begins with age1.", cause });
  }
}
