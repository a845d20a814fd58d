// SPDX-License-Identifier: Apache-2.0
import { App, TerraformOutput } from "cdktn";
import { synthesizeApp } from "talosmith";
import { AnyResource, AwsInfrastructure, TalosCluster, TalosStack, WorkerPool } from "talosmith/constructs";

const app = new App();
const stack = new TalosStack(app, "lab");

const infrastructure = new AwsInfrastructure(stack, "aws", {
  region: "eu-central-1",
  adminCidrs: ["203.0.113.0/24"],
});
const cluster = new TalosCluster(stack, "cluster", { name: "lab", infrastructure, controlPlane: { count: 3 } });
new WorkerPool(cluster, "general", { count: 3, disk: "100GiB" });

const { vpc, subnets, securityGroups } = infrastructure;
const group = new AnyResource(stack, "database-group", "aws_security_group", {
  name: "lab-database",
  description: "PostgreSQL of lab",
  vpc_id: vpc.id,
});
new AnyResource(stack, "database-rule", "aws_vpc_security_group_ingress_rule", {
  security_group_id: group.id,
  description: "PostgreSQL, from workers",
  ip_protocol: "tcp",
  from_port: 5432,
  to_port: 5432,
  referenced_security_group_id: securityGroups.worker.id,
});
const subnetGroup = new AnyResource(stack, "database-subnets", "aws_db_subnet_group", {
  name: "lab-database",
  subnet_ids: subnets.private.map(({ id }) => id),
});
const database = new AnyResource(stack, "database", "aws_db_instance", {
  identifier: "lab",
  engine: "postgres",
  instance_class: "db.t4g.medium",
  allocated_storage: 50,
  storage_encrypted: true,
  username: "lab",
  manage_master_user_password: true, // the password is in Secrets Manager, not in the state
  db_subnet_group_name: subnetGroup.attribute("name"),
  vpc_security_group_ids: [group.id],
  multi_az: true,
  deletion_protection: true,
  final_snapshot_identifier: "lab-database-final",
});
new TerraformOutput(stack, "database-address", { value: database.attribute("address") });

await synthesizeApp(app);
