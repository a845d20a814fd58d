// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stackOf } from "./project.ts";

interface Statement {
  readonly Sid: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}
interface ReferenceAction {
  readonly resources: Readonly<Record<string, { readonly required: boolean; readonly keys: readonly string[] }>>;
  readonly keys: readonly string[];
}
const reference = (
  JSON.parse(readFileSync(new URL("../golden/aws-authorization.json", import.meta.url), "utf8")) as {
    actions: Record<string, ReferenceAction>;
  }
).actions;
/** In the EBS CSI driver's own example policy, and younger than our copy of AWS's reference. */
const younger = new Set(["ec2:CopyVolumes volume", "ec2:CreateVolume snapshot"]);

const { resource } = stackOf(
  "infrastructure: { kind: aws, region: eu-central-1, adminCidrs: [198.51.100.0/24], cloudControllerManager: true, ebsCsi: true, clusterAutoscaler: true }\ncontrolPlane: { count: 1 }\nbackup: {}\n",
);
const policy = (id: string) =>
  (JSON.parse(String(resource.aws_iam_role_policy?.[id]?.policy)) as { Statement: readonly Statement[] }).Statement;
const policies = ["control_plane_cloud_controller", "control_plane_ebs_csi", "control_plane_cluster_autoscaler"];
const actionsOf = ({ Action }: Statement) => [Action].flat() as string[];
/** `volume` of arn:…:ec2:…:volume/*, and what of it a condition may ask for. */
const typesOf = ({ Resource }: Statement) =>
  ([Resource].flat() as string[]).map((arn) => /:([a-zA-Z-]+)\/[^:]*$/.exec(arn)?.[1] ?? arn);
const keysOf = ({ Condition = {} }: Statement) =>
  Object.values(Condition).flatMap((test) =>
    Object.keys(test).map((key) => key.replace(/^(aws:(Request|Resource)Tag\/).*/, "$1")),
  );

describe.each(policies)("the policy %s", (id) => {
  const statements = policy(id).filter(({ Resource }) => Resource !== "*");

  it("names only resources and conditions that AWS holds the action against, so that no call is denied by mistake", () => {
    const faults: string[] = [];
    for (const statement of statements)
      for (const action of actionsOf(statement)) {
        const known = reference[action];
        const matching = Object.entries(known?.resources ?? {}).filter(([type]) =>
          typesOf(statement).includes(type.split("/")[0] ?? ""),
        );
        const place = `${statement.Sid} ${action} ${typesOf(statement).join()}`;
        if (younger.has(`${action} ${typesOf(statement).join()}`)) continue;
        if (matching.length === 0) faults.push(`${place}: no such resource`);
        for (const [type, { keys }] of matching)
          for (const key of keysOf(statement))
            if (![...keys, ...(known?.keys ?? [])].includes(key)) faults.push(`${place}: ${type} has no ${key}`);
      }
    expect(faults).toEqual([]);
  });

  it("allows every resource that an action always needs", () => {
    const allowed = new Set(
      statements.flatMap((statement) =>
        actionsOf(statement).flatMap((action) => typesOf(statement).map((type) => `${action} ${type}`)),
      ),
    );
    const needed = [...new Set(statements.flatMap(actionsOf))].flatMap((action) =>
      Object.entries(reference[action]?.resources ?? {})
        .filter(([, { required }]) => required)
        .map(([type]) => `${action} ${type.split("/")[0]}`),
    );
    expect(needed.filter((pair) => !allowed.has(pair))).toEqual([]);
  });

  it("changes nothing without a condition, and tags nothing that is there already and another's", () => {
    for (const statement of statements) {
      if (typesOf(statement).join() !== "vpc") expect(statement.Condition, statement.Sid).toBeDefined();
      if (!actionsOf(statement).some((action) => /:(Create|Add)Tags$/.test(action))) continue;
      expect(keysOf(statement).some((key) => key.endsWith(":CreateAction") || key === "aws:ResourceTag/")).toBe(true);
    }
  });
});

describe("what the policies are about", () => {
  it("is tagged so: the machines' security groups, which the controller opens for its load balancers, and no others", () => {
    const groups = resource.aws_security_group ?? {};
    const owned = Object.keys(groups).filter((id) =>
      JSON.stringify(groups[id]?.tags).includes(`"kubernetes.io/cluster/sample":"owned"`),
    );
    expect(owned.sort()).toEqual(["allow_control_plane", "allow_worker"]);
  });

  it("attaches volumes only if the driver made them, and only to this cluster's machines", () => {
    const attaching = policy("control_plane_ebs_csi").filter((statement) =>
      actionsOf(statement).includes("ec2:AttachVolume"),
    );
    expect(attaching.map((statement) => [typesOf(statement), statement.Condition])).toEqual([
      [["volume"], { StringEquals: { "aws:ResourceTag/ebs.csi.aws.com/cluster": "true" } }],
      [["instance"], { StringEquals: { "aws:ResourceTag/kubernetes.io/cluster/sample": "owned" } }],
    ]);
  });
});

describe("the buckets", () => {
  const bodies = (type: string) => resource[type] ?? {};

  it("send access logs to a bucket of its own, which log delivery can write to: encrypted by S3, not by a key", () => {
    expect(bodies("aws_s3_bucket_logging").backups_logging).toMatchObject({
      depends_on: ["aws_s3_bucket_policy.backups_logs_policy"],
      bucket: "${aws_s3_bucket.backups.id}",
      target_bucket: "${aws_s3_bucket.backups_logs.id}",
    });
    const encryption = bodies("aws_s3_bucket_server_side_encryption_configuration");
    const by = (algorithm: string) => ({
      rule: { apply_server_side_encryption_by_default: { sse_algorithm: algorithm } },
    });
    expect(encryption.backups_encryption).toMatchObject(by("aws:kms"));
    expect(encryption.backups_logs_encryption).toMatchObject(by("AES256"));
    const statements = (
      JSON.parse(String(bodies("aws_s3_bucket_policy").backups_logs_policy?.policy)) as { Statement: Statement[] }
    ).Statement;
    expect(statements.find(({ Sid }) => Sid === "AccessLogs")).toMatchObject({
      Principal: { Service: "logging.s3.amazonaws.com" },
      Action: "s3:PutObject",
      Condition: {
        ArnLike: { "aws:SourceArn": "${aws_s3_bucket.backups.arn}" },
        StringEquals: { "aws:SourceAccount": "${data.aws_caller_identity.account.account_id}" },
      },
    });
  });

  it.each(["backups", "backups_logs"])("%s is private, versioned, emptied after a while, and takes TLS only", (id) => {
    expect(bodies("aws_s3_bucket_public_access_block")[`${id}_private`]).toMatchObject({
      restrict_public_buckets: true,
    });
    expect(bodies("aws_s3_bucket_versioning")).toHaveProperty(`${id}_versions`);
    expect(bodies("aws_s3_bucket_lifecycle_configuration")).toHaveProperty(`${id}_lifecycle`);
    expect(String(bodies("aws_s3_bucket_policy")[`${id}_policy`]?.policy)).toContain("aws:SecureTransport");
  });
});
