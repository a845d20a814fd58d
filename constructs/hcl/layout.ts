// SPDX-License-Identifier: Apache-2.0

/** One row per resource type that we write: which file it goes to, what a reader should know, which arguments are blocks. */
interface TypeLayout {
  readonly file: string;
  readonly comment?: string;
  /** Why its lifecycle is as it is. */
  readonly lifecycle?: string;
  /** Dotted paths of blocks. The schema conformance test holds them against the providers. */
  readonly blocks?: readonly string[];
}

const types: Readonly<Record<string, TypeLayout>> = {
  libvirt_domain: {
    file: "main.tf",
    comment: "Virtual machines. They are replaced rather than updated; disks stay.",
    lifecycle: "The provider changes a running domain by stopping it, and then fails: it is replaced.",
  },
  aws_instance: {
    file: "main.tf",
    lifecycle:
      "A newer image or config reaches a running machine over the Talos API, never by a new machine. A machine stays in its zone.",
    comment: "Machines. A newer image or config reaches them over the Talos API.",
    blocks: ["root_block_device", "metadata_options"],
  },
  aws_launch_template: {
    file: "main.tf",
    lifecycle: "EC2 takes 16 KiB of user-data.",
    blocks: [
      "iam_instance_profile",
      "monitoring",
      "metadata_options",
      "private_dns_name_options",
      "block_device_mappings",
      "block_device_mappings.ebs",
      "tag_specifications",
    ],
  },
  aws_autoscaling_group: {
    file: "main.tf",
    lifecycle: "The autoscaler decides from here on.",
    comment: "Workers that come and go by themselves.",
    blocks: ["launch_template", "tag"],
  },
  docker_container: {
    file: "main.tf",
    lifecycle: "A newer image would replace every container at once, etcd and all.",
    comment: "Machines. A newer image reaches them one by one, with -replace.",
    blocks: ["mounts", "networks_advanced", "ports"],
  },
  kubernetes_stateful_set_v1: {
    file: "main.tf",
    lifecycle: "A newer image would restart every machine at once, etcd and all.",
    comment: "Machines, each a pod with volumes of its own. A newer image reaches them one by one, with -replace.",
    blocks: [
      "metadata",
      "spec",
      "spec.selector",
      "spec.persistent_volume_claim_retention_policy",
      "spec.template",
      "spec.template.metadata",
      "spec.template.spec",
      "spec.template.spec.container",
      "spec.template.spec.container.env",
      "spec.template.spec.container.security_context",
      "spec.template.spec.container.resources",
      "spec.template.spec.container.volume_mount",
      "spec.template.spec.volume",
      "spec.template.spec.volume.empty_dir",
      "spec.volume_claim_template",
      "spec.volume_claim_template.metadata",
      "spec.volume_claim_template.spec",
      "spec.volume_claim_template.spec.resources",
    ],
  },
  terraform_data: {
    file: "main.tf",
    comment:
      "What changes with the hardware of a machine. For more machines at once than rollout allows, the cluster refuses it.",
  },
  talosmith_simulated_machine: {
    file: "main.tf",
    comment: "Machines of the simulator on this computer.",
    lifecycle: "The release that a machine starts with; the cluster upgrades it.",
  },
  libvirt_pool: { file: "storage.tf" },
  libvirt_volume: {
    file: "storage.tf",
  },
  aws_ebs_volume: { file: "storage.tf" },
  aws_volume_attachment: { file: "storage.tf" },
  talosmith_cloud_init: { file: "storage.tf", comment: "Seeds: name and address of each machine; no secret here." },
  aws_s3_bucket: { file: "storage.tf", comment: "etcd snapshots, and the log of who touched them." },
  aws_s3_bucket_public_access_block: { file: "storage.tf" },
  aws_s3_bucket_versioning: { file: "storage.tf", blocks: ["versioning_configuration"] },
  aws_s3_bucket_server_side_encryption_configuration: {
    file: "storage.tf",
    blocks: ["rule", "rule.apply_server_side_encryption_by_default"],
  },
  aws_s3_bucket_lifecycle_configuration: {
    file: "storage.tf",
    blocks: [
      "rule",
      "rule.filter",
      "rule.expiration",
      "rule.noncurrent_version_expiration",
      "rule.abort_incomplete_multipart_upload",
    ],
  },
  aws_s3_bucket_logging: { file: "storage.tf" },
  aws_s3_bucket_notification: { file: "storage.tf" },
  aws_s3_bucket_policy: { file: "storage.tf" },
  aws_kms_key: { file: "storage.tf" },
  docker_volume: {
    file: "storage.tf",
    comment: "STATE and EPHEMERAL: with them, a new container is the same machine.",
  },
  docker_network: { file: "network.tf", blocks: ["ipam_config"] },
  kubernetes_namespace_v1: { file: "network.tf", blocks: ["metadata"] },
  kubernetes_service_v1: {
    file: "network.tf",
    comment: "An address for life for each machine, and one for the API.",
    blocks: ["metadata", "spec", "spec.port"],
  },
  aws_ami: { file: "image.tf", blocks: ["filter"] },
  libvirt_network: { file: "network.tf" },
  aws_availability_zones: { file: "network.tf", blocks: ["filter"] },
  aws_vpc: { file: "network.tf" },
  aws_default_security_group: { file: "network.tf", comment: "Closed: nothing uses it." },
  aws_internet_gateway: { file: "network.tf" },
  aws_subnet: { file: "network.tf" },
  aws_eip: { file: "network.tf" },
  aws_vpc_endpoint: { file: "network.tf", comment: "The way to S3, which costs nothing." },
  aws_nat_gateway: { file: "network.tf" },
  aws_route_table: { file: "network.tf" },
  aws_route: { file: "network.tf" },
  aws_route_table_association: { file: "network.tf" },
  aws_security_group: { file: "network.tf" },
  aws_vpc_security_group_ingress_rule: { file: "network.tf", comment: "Who may reach whom; nothing else is open." },
  aws_vpc_security_group_egress_rule: { file: "network.tf" },
  aws_lb: { file: "network.tf", comment: "The Kubernetes API." },
  aws_lb_target_group: { file: "network.tf", blocks: ["health_check"] },
  aws_lb_target_group_attachment: { file: "network.tf" },
  aws_lb_listener: { file: "network.tf", blocks: ["default_action"] },
  aws_route53_zone: { file: "network.tf", blocks: ["vpc"] },
  aws_route53_record: { file: "network.tf", blocks: ["alias"] },
  aws_flow_log: { file: "network.tf" },
  aws_cloudwatch_log_group: { file: "network.tf" },
  aws_caller_identity: { file: "iam.tf" },
  aws_partition: { file: "iam.tf" },
  aws_iam_role: { file: "iam.tf" },
  aws_iam_role_policy: { file: "iam.tf" },
  aws_iam_role_policy_attachment: { file: "iam.tf" },
  aws_iam_instance_profile: { file: "iam.tf" },
  terraform_remote_state: { file: "talos.tf", comment: "The control plane that these workers join." },
  talosmith_machine_config: {
    file: "talos.tf",
    comment: "First configs, for user-data. They hold secrets, and so does the state then.",
  },
  talosmith_member: { file: "talos.tf", comment: "Memberships: each ends, by leaving, before its machine does." },
  talosmith_cluster: {
    file: "talos.tf",
    comment: "The cluster: configs, bring-up, upgrades and end of the machines that it lists.",
  },
  talosmith_client_files: { file: "talos.tf", comment: "Files that give access to the cluster." },
};

const order = Object.keys(types);

/** Types in the order of the table, others after them. */
export function typeOrder(type: string): number {
  const index = order.indexOf(type);
  return index === -1 ? order.length : index;
}

/** Resources that stand apart from others of their type. */
const apart: readonly (TypeLayout & { readonly type: string; readonly id: RegExp })[] = [
  {
    type: "libvirt_volume",
    id: /_disk$/,
    file: "storage.tf",
    comment: "Disks are copy-on-write clones of the image.",
    lifecycle: "The provider cannot resize a volume; disk_size in main.tf does.",
  },
  {
    type: "libvirt_volume",
    id: /_iso$/,
    file: "storage.tf",
    comment:
      "ISOs bring name and first address. Another content is another volume, for volumes are replaced by name only.",
    lifecycle: "The file is read when the volume is made, and only then.",
  },
  {
    type: "libvirt_volume",
    id: /(^|_)image$/,
    file: "image.tf",
    comment: "Images that machines began with. New ones begin with the current; running ones are upgraded.",
    lifecycle: "Of an older image, only its name and its bytes count.",
  },
  {
    type: "terraform_data",
    id: /_first_image$/,
    file: "image.tf",
    comment: "What each disk began with.",
    lifecycle: "Kept for as long as the disk is.",
  },
  {
    type: "terraform_data",
    id: /_architecture$/,
    file: "image.tf",
    comment: "Another processor needs another image and another disk.",
  },
  {
    type: "terraform_data",
    id: /_disk_size$/,
    file: "main.tf",
    comment: "Enlarges existing disks while their virtual machines are off. Needs virsh where Terraform runs.",
  },
  {
    type: "terraform_data",
    id: /^reachable$/,
    file: "network.tf",
    comment: "All that the Talos API is reached through: there before machines join, and until they have left.",
  },
];

function layoutOf(type: string, id: string): TypeLayout {
  return apart.find((special) => special.type === type && special.id.test(id)) ?? types[type] ?? { file: "main.tf" };
}

export function fileOf(type: string, id: string): string {
  return layoutOf(type, id).file;
}

export function commentOf(type: string, id: string): string {
  const { comment } = layoutOf(type, id);
  return comment === undefined ? "" : `# ${comment}\n`;
}

/** Why the lifecycle of a resource is as it is. Undefined where it needs no reason. */
export function lifecycleCommentOf(type: string, id: string): string | undefined {
  return layoutOf(type, id).lifecycle;
}

export function blocksOf(type: string): readonly string[] {
  return types[type]?.blocks ?? [];
}
