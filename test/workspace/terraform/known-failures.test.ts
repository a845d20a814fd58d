// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { knownFailureHint, withoutSettingsWarnings } from "../../../workspace/terraform/failures.ts";

// As terraform 1.11 printed them on a computer that had none of it.
const seen: readonly (readonly [what: string, words: string, hint: string])[] = [
  [
    "an old terraform",
    `│ Error: Unsupported Terraform Core version
│
│   on cdk.tf.json line 305, in terraform:
│  305:     "required_version": ">= 1.8.0"`,
    "TERRAFORM_BINARY_NAME",
  ],
  [
    "a killed provider",
    "Error: Plugin did not respond (talosmith_cluster.cluster)\n  The plugin encountered an error",
    "A provider was killed",
  ],
  [
    "a provider that was killed before it was asked",
    "Error: Request cancelled\n  The plugin6.(*GRPCProvider).PlanResourceChange request was cancelled.",
    "A provider was killed",
  ],
  [
    "no registry",
    `│ Error: Failed to query available provider packages
│
│ Could not retrieve the list of available versions for provider
│ hashicorp/aws: could not connect to registry.terraform.io`,
    "mirror",
  ],
  [
    "no credentials",
    `Error: No valid credential sources found

  with provider["registry.terraform.io/hashicorp/aws"],
  on cdk.tf.json line 120, in provider.aws[0]:`,
    "AWS_PROFILE",
  ],
  [
    "no zone",
    "Error: no matching Route 53 Hosted Zone found\n\n  with data.aws_route53_zone.dns_zone,",
    "infrastructure.dns.zone",
  ],
  [
    "no image",
    `╷
│ Error: Your query returned no results. Please change your search criteria and
│ try again.
│
│   with data.aws_ami.image,
╵`,
    "infrastructure.ami",
  ],
  [
    "no libvirtd",
    `Error: Unable to Connect to Libvirt

URI: qemu:///system
Error: failed to dial libvirt: dial unix /var/run/libvirt/libvirt-sock:`,
    "virsh -c",
  ],
  ["no Docker", "Error: Error initializing Docker client\n\n  with provider[...]", "docker version"],
];

describe("what terraform says of a computer that is not ready", () => {
  test.each(seen)("%s leads to a next step", (_, words, hint) => {
    expect(knownFailureHint(words)).toContain(hint);
  });

  test.each(["Error: etcd would lose its quorum", "Error: Your query returned no results.", ""])(
    "%j is left without advice of ours",
    (words) => {
      expect(knownFailureHint(words)).toBeUndefined();
    },
  );
});

test("a CLI configuration that is not there is not why terraform failed", () => {
  const warning = `There are some problems with the CLI configuration:
╷
│ Warning: Unable to open CLI configuration file
│
│ The CLI configuration file at "/home/ann/.terraformrc" does not exist.
╵


`;
  const error = "Error: Unclosed configuration block\n\n  on main.tf line 1\n";
  expect(withoutSettingsWarnings(`${warning}${error}${warning}`)).toBe(error);
  const fault = warning.replace("Warning", "Error");
  expect(withoutSettingsWarnings(fault)).toBe(fault);
});
