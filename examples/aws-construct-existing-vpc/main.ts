// SPDX-License-Identifier: Apache-2.0
import { App } from "cdktn";
import { synthesizeApp } from "talosmith";
import { AwsInfrastructure, TalosCluster, TalosStack, WorkerPool } from "talosmith/constructs";

const app = new App();
const stack = new TalosStack(app, "lab");

const infrastructure = new AwsInfrastructure(stack, "aws", {
  region: "eu-central-1",
  zones: ["eu-central-1a", "eu-central-1b"],
  adminCidrs: ["203.0.113.0/24"],
  vpc: {
    id: "vpc-0123456789abcdef0",
    cidr: "10.20.0.0/16",
    publicSubnetIds: ["subnet-0aaaaaaaaaaaaaaa1", "subnet-0aaaaaaaaaaaaaaa2"],
    privateSubnetIds: ["subnet-0bbbbbbbbbbbbbbb1", "subnet-0bbbbbbbbbbbbbbb2"],
    natCidrs: ["198.51.100.9/32"], // addresses of its NAT gateways
  },
});

const cluster = new TalosCluster(stack, "cluster", {
  name: "lab",
  infrastructure,
  controlPlane: { count: 3, disk: "50GiB" },
});
new WorkerPool(cluster, "general", { count: 2, disk: "100GiB" });

await synthesizeApp(app);
