// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { filled, given } from "../../talos/given.ts";
import { AwsDataSource, type AwsProviderArguments } from "./bindings.ts";

/** How Terraform's AWS provider gets at the account. */
export interface AwsAccountProps {
  /** Alias of the provider block. @default - none for the first one of the stack, else the construct's id */
  readonly alias?: string | undefined;
  /** Profile of the AWS configuration. @default - the credential chain */
  readonly profile?: string | undefined;
  /** A role that Terraform takes on. @default - none */
  readonly assumeRole?:
    | {
        /** ARN of the role. */
        readonly roleArn: string;
        /** Name of the session in AWS's logs. @default - AWS's own */
        readonly sessionName?: string | undefined;
        /** External id that the role asks for. @default - none */
        readonly externalId?: string | undefined;
      }
    | undefined;
  /** Accounts that may be changed. @default - any */
  readonly allowedAccountIds?: readonly string[];
}

/** Arguments of the provider block, in addition to the region. */
export function providerArguments(
  { profile, assumeRole, allowedAccountIds = [] }: AwsAccountProps,
  tags: { readonly [key: string]: string },
): Omit<AwsProviderArguments, "region"> {
  const role = assumeRole && {
    role_arn: assumeRole.roleArn,
    ...given({ session_name: assumeRole.sessionName, external_id: assumeRole.externalId }),
  };
  return given({
    profile,
    assume_role: role,
    allowed_account_ids: filled(allowedAccountIds),
    default_tags: filled(tags) && { tags },
  });
}

/** Who the provider block speaks for; references. AWS is asked only where something is named after it. */
export class AwsIdentity {
  readonly #scope: Construct;
  #account: string | undefined;
  #partition: string | undefined;

  constructor(scope: Construct) {
    this.#scope = scope;
  }

  get account(): string {
    this.#account ??= new AwsDataSource(this.#scope, "account", "aws_caller_identity", {}).attribute("account_id");
    return this.#account;
  }

  get partition(): string {
    this.#partition ??= new AwsDataSource(this.#scope, "partition", "aws_partition", {}).attribute("partition");
    return this.#partition;
  }
}
