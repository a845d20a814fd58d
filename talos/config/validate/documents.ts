// SPDX-License-Identifier: Apache-2.0
import type { Section } from "../document/value.ts";
import type { Findings } from "./findings.ts";

/** Checks one document beside the v1alpha1 one. */
export type Check = (document: Section, findings: Findings) => void;

/** Checks by kind. A kind that is not listed has no rules beyond its schema. */
export type Checks = Readonly<Record<string, Check>>;
