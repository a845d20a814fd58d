// SPDX-License-Identifier: Apache-2.0
import { jsonEncode } from "../hcl/expression.ts";
import type { AwsIdentity } from "./account.ts";

export interface Statement {
  readonly Sid?: string;
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource?: string | readonly string[];
  readonly Principal?: "*" | { readonly [kind: string]: string };
  readonly Condition?: Condition;
}

export interface Condition {
  readonly [operator: string]: { readonly [key: string]: string | readonly string[] };
}

/** A statement that allows actions on resources, under a condition where there is one. */
export function allow(
  Sid: string,
  Action: string | readonly string[],
  Resource: string | readonly string[],
  Condition?: Condition,
): Statement {
  const statement: Statement = { Sid, Effect: "Allow", Action, Resource };
  return Condition === undefined ? statement : { ...statement, Condition };
}

/** A policy as text. */
export function policyDocument(statements: readonly Statement[]): string {
  return jsonEncode({ Version: "2012-10-17", Statement: statements });
}

/** The policy of a role that only a service of AWS takes on. */
export function assumedBy(service: string): string {
  return policyDocument([{ Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: service } }]);
}

export interface PolicyScope {
  readonly identity: AwsIdentity;
  readonly region: string;
  readonly clusterName: string;
  readonly vpcId: string;
}

/** The ARN of what one service has in the cluster's region and account. */
export const arn = ({ identity, region }: PolicyScope, service: string, resource: string) =>
  `arn:${identity.partition}:${service}:${region}:${identity.account}:${resource}`;

/** The tag by which the cluster's machines, and what its controllers make, are told from everything else. */
export const clusterTag = (clusterName: string) => `kubernetes.io/cluster/${clusterName}`;

/** What has a tag already. */
export const tagged = (key: string, value: string): Condition => ({
  StringEquals: { [`aws:ResourceTag/${key}`]: value },
});

/** What is made with a tag. */
export const madeWith = (key: string, value: string): Condition => ({
  StringEquals: { [`aws:RequestTag/${key}`]: value },
});
