// SPDX-License-Identifier: Apache-2.0

export { renderMarkdown } from "./markdown.ts";
export { type Level, type Plan, parsePlan } from "./plan.ts";
export { type Review, reaches, reviewPlan } from "./review.ts";
export { placeholderTitle } from "./rules/resources.ts";
export { planOfStack } from "./stack.ts";
