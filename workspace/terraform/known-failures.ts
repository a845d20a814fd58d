// SPDX-License-Identifier: Apache-2.0

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

/** What to do about a failure that newcomers meet, by terraform's words for it. */
export function knownFailureHint(words: string): string | undefined {
  // Terraform draws a frame around its words, and breaks their lines where it likes.
  const plain = words.replaceAll(/[╷│╵]/g, " ").replaceAll(/\s+/g, " ");
  return failures.find(([known]) => known.test(plain))?.[1];
}
