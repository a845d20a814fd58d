// SPDX-License-Identifier: Apache-2.0
import { App, TerraformOutput } from "cdktn";
import { synthesizeApp } from "talosmith";
import { AwsInfrastructure, TalosCluster, TalosStack, WorkerPool } from "talosmith/constructs";

const regions = {
  frankfurt: { region: "eu-central-1", cidr: "10.10.0.0/16" },
  ireland: { region: "eu-west-1", cidr: "10.20.0.0/16" },
};

const app = new App();
const stack = new TalosStack(app, "europe");

for (const [name, { region, cidr }] of Object.entries(regions)) {
  const infrastructure = new AwsInfrastructure(stack, name, {
    clusterName: name,
    region,
    adminCidrs: ["203.0.113.0/24"],
    vpc: { cidr },
  });
  const cluster = new TalosCluster(stack, `${name}-cluster`, {
    name,
    infrastructure,
    controlPlane: { count: 3 },
  });
  new WorkerPool(cluster, "general", {});
  new TerraformOutput(stack, `${name}-endpoint`, { value: cluster.endpoint });
}

await synthesizeApp(app);
