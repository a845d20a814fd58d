// SPDX-License-Identifier: Apache-2.0

export { type HardwareChange, hardwareChanges, stopsMachines } from "./hardware.ts";
export { infrastructureChanges, isInfrastructureStep } from "./infrastructure.ts";
export { renderMarkdown } from "./markdown.ts";
export { type Change, changeOf, type Finding, type Level, type Plan, parsePlan, planWith } from "./plan.ts";
export { isMachine, type Review, reaches, reviewPlan } from "./review.ts";
export { planOfStack } from "./stack.ts";
export { losesData, stepsOf } from "./step-groups.ts";
export { findingLine, infrastructureLine, passesText, renderText, type Style, stepLines, stepsText } from "./text.ts";
