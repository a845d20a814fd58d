// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import { refuse } from "../errors.ts";
import { AwsResource } from "./bindings.ts";
import { assumedBy, policyDocument, type Statement } from "./policy.ts";

/** What the role of machines has in addition, or in its place. */
export interface AwsRoleProps {
  /** ARNs of further policies. @default - none */
  readonly policyArns?: readonly string[];
  /** Name of an existing instance profile, in place of a role that is made. @default - a role is made */
  readonly instanceProfile?: string | undefined;
}

/** The role of machines and its instance profile, for resources of your own. */
export interface AwsRole {
  /** Name of the role, a reference. @default - none with an `instanceProfile` of yours */
  readonly name: string | undefined;
  /** ARN of the role, a reference. @default - none with an `instanceProfile` of yours */
  readonly arn: string | undefined;
  /** Name of the instance profile; a reference where it is created. */
  readonly profileName: string;
  /** ARN of the instance profile, a reference. */
  readonly profileArn: string;
}

/** What the roles of machines may do in addition. Set one of `statements` and `policyArn`. */
export interface AwsPolicyProps {
  /** Name of the policy, with letters, digits and hyphens. */
  readonly name: string;
  /** Machines whose role has it. @default all */
  readonly machines?: "all" | "controlPlane" | "worker";
  /** What it allows or denies. @default - what `policyArn` says */
  readonly statements?: readonly AwsPolicyStatement[];
  /** ARN of a policy that exists, or a reference to one of yours. @default - a policy of `statements` */
  readonly policyArn?: string;
}

/** A statement of a policy. */
export interface AwsPolicyStatement {
  /** Actions, such as `s3:GetObject`. */
  readonly actions: readonly string[];
  /** ARNs of what they are about; may be references. */
  readonly resources: readonly string[];
  /** Whether it allows or denies. @default Allow */
  readonly effect?: "Allow" | "Deny";
  /** Operator, key and values, as AWS has them. @default - none */
  readonly conditions?: { readonly [operator: string]: { readonly [key: string]: string | readonly string[] } };
}

export interface InstanceRoleProps extends AwsRoleProps {
  readonly name: string;
  /** ARN of a profile by its name. */
  readonly profileArn: (name: string) => string;
  /** Named policies; one without statements is left out. */
  readonly policies: { readonly [name: string]: readonly Statement[] };
}

/** A role for instances, with its profile and its policies; or a profile that exists. */
export class InstanceRole extends Construct implements AwsRole {
  readonly name: string | undefined;
  readonly arn: string | undefined;
  readonly profileName: string;
  readonly #profileArn: () => string;

  constructor(scope: Construct, id: string, props: InstanceRoleProps) {
    super(scope, id);
    const { instanceProfile } = props;
    if (instanceProfile !== undefined) {
      this.profileName = instanceProfile;
      this.#profileArn = () => props.profileArn(instanceProfile);
      return;
    }
    const tags = { Name: props.name };
    const role = new AwsResource(this, "Resource", "aws_iam_role", {
      name: props.name,
      assume_role_policy: assumedBy("ec2.amazonaws.com"),
      tags,
    });
    this.name = role.attribute("name");
    this.arn = role.arn;
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
    this.#profileArn = () => profile.arn;
  }

  get profileArn(): string {
    return this.#profileArn();
  }

  /** Adds a policy. Throws ConstructInputError where the role is not made here. */
  addPolicy({ name, statements, policyArn }: AwsPolicyProps): void {
    if (this.name === undefined)
      refuse(this, `policy ${name}: found an instanceProfile of yours; add the policy to the role of that profile`);
    if ((statements === undefined) === (policyArn === undefined))
      refuse(this, `policy ${name}: expected one of statements and policyArn`);
    if (this.node.tryFindChild(name) !== undefined)
      refuse(this, `found a second policy named ${name}; expected a name of its own for each policy`);
    if (statements !== undefined)
      new AwsResource(this, name, "aws_iam_role_policy", {
        name,
        role: this.name,
        policy: policyDocument(
          statements.map(({ effect = "Allow", actions, resources, conditions }) => ({
            ...{ Effect: effect, Action: actions, Resource: resources },
            ...given({ Condition: conditions }),
          })),
        ),
      });
    else
      new AwsResource(this, name, "aws_iam_role_policy_attachment", { role: this.name, policy_arn: policyArn ?? "" });
  }
}
