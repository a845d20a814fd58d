// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { AwsResource } from "./bindings.ts";
import { assumedBy, policyDocument } from "./policy.ts";

export interface FlowLogsProps {
  readonly clusterName: string;
  readonly vpcId: string;
  readonly keyArn: string;
}

/** Who spoke to whom in the VPC, kept for a year. */
export class FlowLogs extends Construct {
  constructor(scope: Construct, id: string, { clusterName, vpcId, keyArn }: FlowLogsProps) {
    super(scope, id);
    const tags = { Name: `${clusterName}-flow-logs` };
    const group = new AwsResource(this, "group", "aws_cloudwatch_log_group", {
      name: `/talosmith/${clusterName}/flow-logs`,
      retention_in_days: 365,
      kms_key_id: keyArn,
      tags,
    });
    const role = new AwsResource(this, "role", "aws_iam_role", {
      name: `${clusterName}-flow-logs`,
      assume_role_policy: assumedBy("vpc-flow-logs.amazonaws.com"),
      tags,
    });
    new AwsResource(this, "policy", "aws_iam_role_policy", {
      name: "write",
      role: role.id,
      policy: policyDocument([
        {
          Effect: "Allow",
          Action: ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
          Resource: `${group.arn}:*`,
        },
      ]),
    });
    new AwsResource(this, "Resource", "aws_flow_log", {
      vpc_id: vpcId,
      traffic_type: "ALL",
      log_destination: group.arn,
      iam_role_arn: role.arn,
      tags,
    });
  }
}
