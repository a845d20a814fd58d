// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { AwsResource } from "./bindings.ts";
import { assumedBy, policyDocument, type Statement } from "./policy.ts";

/** What the role of machines has in addition, or in its place. */
export interface AwsRoleProps {
  /** ARNs of further policies. @default - none */
  readonly policyArns?: readonly string[];
  /** Name of an existing instance profile, in place of a role that is made. @default - a role is made */
  readonly instanceProfile?: string | undefined;
}

export interface InstanceRoleProps extends AwsRoleProps {
  readonly name: string;
  /** ARN of a profile by its name. */
  readonly profileArn: (name: string) => string;
  /** Named policies; one without statements is left out. */
  readonly policies: { readonly [name: string]: readonly Statement[] };
}

/** A role for instances, with its profile and its policies; or a profile that exists. */
export class InstanceRole extends Construct {
  readonly profileName: string;
  readonly profileArn: string;

  constructor(scope: Construct, id: string, props: InstanceRoleProps) {
    super(scope, id);
    if (props.instanceProfile !== undefined) {
      this.profileName = props.instanceProfile;
      this.profileArn = props.profileArn(props.instanceProfile);
      return;
    }
    const tags = { Name: props.name };
    const role = new AwsResource(this, "Resource", "aws_iam_role", {
      name: props.name,
      assume_role_policy: assumedBy("ec2.amazonaws.com"),
      tags,
    });
    for (const [name, statements] of Object.entries(props.policies))
      if (statements.length > 0)
        new AwsResource(this, name, "aws_iam_role_policy", { name, role: role.id, policy: policyDocument(statements) });
    for (const policyArn of props.policyArns ?? [])
      new AwsResource(this, `attached-${policyArn.replace(/^.*\//, "")}`, "aws_iam_role_policy_attachment", {
        role: role.attribute("name"),
        policy_arn: policyArn,
      });
    const profile = new AwsResource(this, "profile", "aws_iam_instance_profile", {
      name: props.name,
      role: role.attribute("name"),
      tags,
    });
    this.profileName = profile.attribute("name");
    this.profileArn = profile.arn;
  }
}
