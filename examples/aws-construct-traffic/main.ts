// SPDX-License-Identifier: Apache-2.0
import { App } from "cdktn";
import { synthesizeApp } from "talosmith";
import { AwsInfrastructure, TalosCluster, TalosStack, WorkerPool } from "talosmith/constructs";

const app = new App();
const stack = new TalosStack(app, "lab");

const infrastructure = new AwsInfrastructure(stack, "aws", {
  region: "eu-central-1",
  adminCidrs: ["203.0.113.0/24"],
});
const cluster = new TalosCluster(stack, "cluster", { name: "lab", infrastructure, controlPlane: {} });
const workers = new WorkerPool(cluster, "general", { count: 3 });

infrastructure.addListener({ port: 443, targetPort: 30443, pool: workers, cidrs: ["0.0.0.0/0"] });
infrastructure.allow({ description: "Node exporter", ports: 9100, cidrs: ["10.99.0.0/24"] });
infrastructure.allow({
  description: "Mail",
  direction: "egress",
  machines: "worker",
  ports: 587,
  cidrs: ["192.0.2.25/32"],
});
infrastructure.addPolicy({
  name: "assets",
  machines: "worker",
  statements: [{ actions: ["s3:GetObject"], resources: ["arn:aws:s3:::assets/*"] }],
});

await synthesizeApp(app);
