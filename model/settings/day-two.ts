// SPDX-License-Identifier: Apache-2.0
// The settings of what is added to a running cluster: Helm releases, and backups of etcd.
import { choice, duration, flag, object, type Settings, section, text, texts } from "./setting.ts";

/** Credentials of a chart repository or registry: one of `passwordEnv` and `passwordFile`. */
export const chartCredentialSettings = {
  username: {
    type: text(),
    attribute: "username",
    required: true,
    description: "User of the repository or registry.",
  },
  passwordEnv: {
    type: text(),
    attribute: "password_env",
    otherwise: "none",
    description: "Environment variable that holds the password.",
  },
  passwordFile: {
    type: text("relativePath"),
    attribute: "password_file",
    otherwise: "none",
    description: "File that holds the password, relative to the project's root.",
  },
} as const satisfies Settings;

export const addonSettings = {
  name: { type: text("releaseName"), attribute: "name", required: true, description: "Name of the Helm release." },
  namespace: {
    type: text("releaseName"),
    attribute: "namespace",
    required: true,
    otherwise: "the name",
    description: "Namespace of the release; created where it does not exist.",
  },
  chart: {
    type: text(),
    attribute: "chart",
    required: true,
    description: "Name in the repository, `oci://…`, or a path such as `./charts/app`, relative to the project's root.",
  },
  repository: {
    type: text("url"),
    attribute: "repository",
    otherwise: "none, for `oci://` charts and paths",
    description: "URL of the chart repository.",
  },
  version: { type: text(), attribute: "version", otherwise: "the newest", description: "Version of the chart." },
  values: {
    type: section<Readonly<Record<string, unknown>> | string>("values"),
    otherwise: "the chart's",
    description: "Values of the chart. They are in plan and state: no secrets.",
  },
  valuesFiles: {
    type: texts("relativePath"),
    attribute: "values_files",
    default: [],
    description:
      "Files with further values, which may be secret, relative to the project's root; only their hash is in plan and state.",
  },
  credentials: {
    type: object(chartCredentialSettings),
    attribute: "credentials",
    otherwise: "none",
    description: "Credentials of a private repository or registry, without the password.",
  },
  cni: {
    type: flag,
    attribute: "cni",
    default: false,
    description:
      "Whether it brings the pod network of a cluster with `cni` `none`: it is installed first, and all nodes become ready with it.",
  },
  after: {
    type: texts("releaseName"),
    default: [],
    description: "Add-ons of this cluster that must be ready before it; constructs add them first.",
  },
  wait: {
    type: flag,
    attribute: "wait",
    default: true,
    description: "Wait until it is ready, and roll back where it does not become ready.",
  },
  timeout: { type: duration, attribute: "timeout", default: "10m", description: "How long it may take." },
} as const satisfies Settings;

/** A bucket of AWS or of an S3-compatible store. Credentials come from the usual chain and are never set here. */
export const bucketSettings = {
  bucket: { type: text("bucketName"), attribute: "bucket", required: true, description: "Name of the bucket." },
  prefix: {
    type: text(),
    attribute: "prefix",
    otherwise: "the cluster's name",
    terraformDefault: "",
    description: "Beginning of every object's name, without a slash at its end.",
  },
  region: { type: text(), attribute: "region", otherwise: "the AWS configuration's", description: "AWS region." },
  endpoint: {
    type: text("url"),
    attribute: "endpoint",
    otherwise: "AWS",
    description: "URL of an S3-compatible store.",
  },
  pathStyle: {
    type: flag,
    attribute: "path_style",
    otherwise: "true where `endpoint` is set",
    description: "Whether the bucket is in the path of URLs rather than in the host name.",
  },
  sse: {
    type: choice("AES256", "aws:kms"),
    attribute: "sse",
    otherwise: "the bucket's",
    description: "Encryption by the store: `AES256` or `aws:kms`.",
  },
  kmsKeyId: {
    type: text(),
    attribute: "kms_key_id",
    otherwise: "the account's key for S3",
    description: "Key for `aws:kms`.",
  },
  profile: {
    type: text(),
    attribute: "profile",
    otherwise: "the AWS credential chain, including the instance role",
    description: "AWS profile.",
  },
} as const satisfies Settings;
