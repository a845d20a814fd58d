// SPDX-License-Identifier: Apache-2.0
export type { Level } from "./finding.ts";
export { renderMarkdown } from "./markdown.ts";
export { parsePlan } from "./plan.ts";
export { type Review, reaches, reviewPlan } from "./review.ts";
