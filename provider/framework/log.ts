// SPDX-License-Identifier: Apache-2.0

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** Goes to Terraform's own log (TF_LOG, TF_LOG_PROVIDER). Never write a secret here. */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;
