// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { AwsResource } from "./bindings.ts";
import { assumedBy, policyDocument, type Statement } from "./policy.ts";

export interface InstanceRoleProps {
  readonly name: string;
  /** Named policies; one without statements is left out. */
  readonly policies: { readonly [name: string]: readonly Statement[] };
}

/** A role for instances, with its profile and its policies. */
export class InstanceRole extends Construct {
  readonly profileName: string;
  readonly profileArn: string;

  constructor(scope: Construct, id: string, props: InstanceRoleProps) {
    super(scope, id);
    const tags = { Name: props.name };
    const role = new AwsResource(this, "Resource", "aws_iam_role", {
      name: props.name,
      assume_role_policy: assumedBy("ec2.amazonaws.com"),
      tags,
    });
    for (const [name, statements] of Object.entries(props.policies))
      if (statements.length > 0)
        new AwsResource(this, name, "aws_iam_role_policy", { name, role: role.id, policy: policyDocument(statements) });
    const profile = new AwsResource(this, "profile", "aws_iam_instance_profile", {
      name: props.name,
      role: role.attribute("name"),
      tags,
    });
    this.profileName = profile.attribute("name");
    this.profileArn = profile.arn;
  }
}
