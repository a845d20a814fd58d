// SPDX-License-Identifier: Apache-2.0
import type { ToldEvent } from "../engine/index.ts";
import { type Review, renderText } from "../review/index.ts";
import type { Deployed } from "./deploy.ts";
import { windowNotice } from "./rollout.ts";
import type { Workspace } from "./workspace.ts";

export type Intent = "deploy" | "destroy";

export type ProgressListener = (event: ToldEvent) => void;

/** What an apply has come to. */
export interface Applied {
  readonly changed: boolean;
  /** Machines that could not be observed, none if it is not known which; undefined when everything was. */
  readonly unseen: Deployed["unseen"];
}

/** A change that was planned, and not made yet. */
export interface PlannedChange {
  readonly review: Review;
  readonly isEmpty: boolean;
  /** Machines that could not be observed, as in `Applied`. */
  readonly unseen: Deployed["unseen"];
  /** What the plan warns of, for people: a sentence, or Terraform's title and text. */
  readonly warnings: readonly string[];
  /** How machines whose hardware changes are changed in turn, as a line for people. @default none is */
  readonly rolled?: string | undefined;
  /** Makes exactly this change. A plan that would now lose more data than the one that was shown is refused. */
  apply(events: ProgressListener): Promise<Applied>;
}

export interface ChangeOptions {
  readonly intent: Intent;
  /** Gets Terraform's own text of the plan as it comes. */
  readonly raw?: ((text: string) => void) | undefined;
  /** Gets what planning waits for. @default lines for people */
  readonly waits?: ((reason: string) => void) | undefined;
  /** Whether that text has colors. @default false */
  readonly color?: boolean | undefined;
}

/** The plan as people read it, dangers first; empty when nothing changes. */
export function planText({ review, rolled }: PlannedChange, style?: Parameters<typeof renderText>[1]): string {
  const text = renderText(review, style);
  return rolled === undefined ? text : `${text}\n${rolled}\n`;
}

/** When the plan waits for a maintenance window, whether one is open. */
export function noticeOf(workspace: Workspace, { review }: PlannedChange): string | undefined {
  const sentences = review.clusters.flatMap(({ steps = [] }) => steps);
  return windowNotice(workspace.environment, sentences, workspace.context.clock.now());
}

/** True when data, access or quorum may be lost. */
export function isDangerous({ review }: PlannedChange): boolean {
  return review.findings.some(({ level }) => level === "danger");
}
