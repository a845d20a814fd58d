// SPDX-License-Identifier: Apache-2.0
// Why terraform or tofu has failed, in words for people.
import { errorTitles } from "../../talos/errors.ts";
import type { ToldError } from "./diagnostic-text.ts";

/** What providers and registries say of a computer that is not ready yet, and what to do about it there. */
const failures: readonly (readonly [words: RegExp, hint: string])[] = [
  [
    /Failed to query available provider packages|Could not retrieve the list of available versions/,
    "Providers of others come from their registry: look at the network, or name a mirror in the CLI configuration of terraform or tofu.",
  ],
  [
    /No valid credential sources? found|ExpiredToken|InvalidClientTokenId/,
    "Sign in to AWS first (aws sso login), or choose whose credentials to use with AWS_PROFILE.",
  ],
  [
    /no matching Route ?53 Hosted Zone found/i,
    "infrastructure.dns.zone has to be a zone of this AWS account: name yours, let it be made (createZone: true), or take dns out.",
  ],
  [
    /Your query returned no results[\s\S]*data\.aws_ami/,
    "The region has no Talos image of this release: choose another talosVersion, or name an image with infrastructure.ami.",
  ],
  [
    /Unable to Connect to Libvirt|failed to dial libvirt/i,
    "infrastructure.uri has to lead to a libvirtd that you may use. Try it with: virsh -c <uri> list",
  ],
  [
    /Cannot connect to the Docker daemon|Error initializing Docker client/i,
    "The Docker daemon has to run, and you have to be allowed to use it. Try it with: docker version",
  ],
  [
    /Unsupported \w+ Core version/,
    "Put a newer terraform or tofu on the PATH, or name one with TERRAFORM_BINARY_NAME. Only state locks in S3 without backend.lockTable need 1.10.",
  ],
  [
    /Plugin did not respond|The plugin6\.\S+ request was cancelled/,
    "A provider was killed, or has crashed. Run the same command again: it goes on from here. If nobody killed it, the kernel's log tells whether memory ran out.",
  ],
];

const settingsWarning = /There are some problems with the CLI configuration:\n╷\n│ Warning: (?:│.*\n|.*\n)*?╵\n+/g;

/** What terraform says, without its warnings about a CLI configuration that is not there: they are not why it failed. */
export function withoutSettingsWarnings(words: string): string {
  return words.replaceAll(settingsWarning, "");
}

/** What to do about a failure that newcomers meet, by terraform's words for it. */
export function knownFailureHint(words: string): string | undefined {
  // Terraform draws a frame around its words, and breaks their lines where it likes.
  const plain = words.replaceAll(/[╷│╵]/g, " ").replaceAll(/\s+/g, " ");
  return failures.find(([known]) => known.test(plain))?.[1];
}

/** What has failed, in the provider's own sentence; undefined where others than our resources have failed as well. */
export function ownFailure(
  errors: readonly ToldError[],
): { readonly message: string; readonly hint: string | undefined } | undefined {
  if (errors.length === 0 || !errors.every(({ address = "" }) => isOurs(address))) return undefined;
  const [first = "", ...more] = [...new Set(errors.map(sentenceOf))];
  if (more.length > 0) return { message: [first, ...more].join("\n\n"), hint: undefined };
  const [message = "", ...hints] = first.split("\n\n");
  return { message, hint: hints.length === 0 ? undefined : hints.join("\n\n").replaceAll("\n", "\n  ") };
}

/** Errors of all who have failed, by the addresses of their resources. */
export function failureText(errors: readonly ToldError[]): string {
  return errors
    .map(({ summary, address, detail }) => {
      const title = address === undefined ? summary : `${summary} (${address})`;
      return detail === "" ? title : `${title}\n  ${detail.replaceAll("\n", "\n  ")}`;
    })
    .join("\n\n");
}

const isOurs = (address: string) => /^(?:.*\.)?talosmith_\w+\./.test(address);

/** A title that is no more than the kind of error says less than the sentence below it. */
function sentenceOf({ summary, detail }: ToldError): string {
  if (detail === "") return summary;
  return kinds.has(summary) ? detail : `${summary}\n${detail}`;
}

const kinds: ReadonlySet<string> = new Set(
  Object.entries(errorTitles).flatMap(([code, title]) => (code === "internal" ? [] : [title])),
);
