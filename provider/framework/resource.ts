// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf, PlanOf, StateOf } from "./attribute.ts";
import type { AttributePath, Diagnostics } from "./diagnostics.ts";
import type { Json } from "./json.ts";
import type { OperationClock, Timeouts } from "./timeouts.ts";

/** What every operation gets. `C` is what the provider's `configure` returned. */
export interface Operation<C> {
  readonly client: C;
  /** Aborted when Terraform is interrupted or the timeout is over. Stop at the next safe point and throw. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** For warnings, and for several errors at once. To give up with one error, throw. */
  readonly diagnostics: Diagnostics;
  /** Of the timeout. Stop it while others are waited for. */
  readonly clock: OperationClock;
}

export interface ValidateRequest<S extends Attributes> {
  readonly config: ConfigOf<S>;
  readonly diagnostics: Diagnostics;
}

export interface PlanRequest<S extends Attributes, C> extends Operation<C> {
  /** Null when the resource is to be created. */
  readonly prior: StateOf<S> | null;
  readonly config: ConfigOf<S>;
  /** What the framework has planned: defaults filled in, computed values kept or unknown. */
  readonly planned: ConfigOf<S>;
  /** False when nothing the configuration says differs from the prior state. */
  readonly changed: boolean;
  /** What `remember` was given last, by the refresh before this plan or earlier; empty when nothing was. */
  readonly remembered: string;
}

export interface PlanResult<S extends Attributes> {
  /** Values for attributes that the configuration leaves to the provider. */
  readonly values?: Partial<ConfigOf<S>>;
  /** Attributes whose change makes Terraform replace the resource. */
  readonly replace?: readonly AttributePath[];
  /** Too little is known to look at what is there: a core that can, plans it once the rest is made. @default false */
  readonly deferred?: boolean;
}

interface Change<S extends Attributes, C> extends Operation<C> {
  readonly planned: PlanOf<S>;
  /** Has the write-only attributes, which `planned` never has. */
  readonly config: PlanOf<S>;
  /** Records what is true so far. If the operation then fails, this is what Terraform keeps. */
  save(state: StateOf<S>): void;
  /** What `remember` was given last; empty when nothing was, as after an import. */
  readonly remembered: string;
  /** Keeps a text beside the state, where no plan and no output shows it. No secrets. */
  remember(text: string): void;
}

export type CreateRequest<S extends Attributes, C> = Change<S, C>;

export interface UpdateRequest<S extends Attributes, C> extends Change<S, C> {
  readonly prior: StateOf<S>;
}

export interface StateRequest<S extends Attributes, C> extends Operation<C> {
  readonly state: StateOf<S>;
  /** What `remember` of a create or an update was given last; empty when nothing was. */
  readonly remembered: string;
}

export interface ReadRequest<S extends Attributes, C> extends StateRequest<S, C> {
  /** Keeps a text beside the state, where no plan and no output shows it. No secrets. @default what was kept before */
  remember(text: string): void;
}

export interface ImportRequest<C> extends Operation<C> {
  readonly id: string;
}

type MovedState = Readonly<Record<string, Json>>;

/**
 * What a `moved` block takes into a resource from a type of another provider. Terraform asks for it before the provider is
 * configured, with the other type's state, which may hold secrets.
 */
export type Move<S extends Attributes, C> = {
  /** By its name alone: of several instances of a resource, terraform names the provider of the first one only. */
  readonly type: string;
} & (
  | {
      /** All attributes, where the other state has what it takes. */
      state(source: MovedState): Promise<Partial<StateOf<S>>>;
    }
  | {
      /** What `find` needs to know of the other state. No secrets: it is kept beside the state until the first refresh. */
      idOf(source: MovedState): string;
      /** The attributes, found out at that refresh. Terraform plans with it: nothing may be written. */
      find(request: ImportRequest<C>): Promise<Partial<StateOf<S>>>;
    }
);

/** By what one resource of a type is told from all others, wherever its state is. Needs Terraform 1.12. */
export interface Identity<S extends Attributes> {
  /** What each attribute is; all are texts, and an import needs all of them. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Undefined where the state does not have them. */
  of(state: StateOf<S>): IdentityValues | undefined;
  /** The same as `import` takes it. */
  idOf(identity: IdentityValues): string;
}

export type IdentityValues = Readonly<Record<string, string>>;

/** What every type has that a configuration names. */
export interface NamedType<S extends Attributes> {
  readonly name: string;
  readonly description: string;
  readonly attributes: S;
  /** Faults that can be seen in the configuration alone. Unknown values are not faults. */
  validate?(request: ValidateRequest<S>): void | Promise<void>;
}

/**
 * One resource type. Every method may throw: what it throws becomes a diagnostic, and Terraform keeps the newest saved
 * state: after a failed create none (nothing is tainted, the next apply creates again), else the prior one.
 */
export interface Resource<S extends Attributes, C> extends NamedType<S> {
  /** The schema's version. @default 0 */
  readonly version?: number;
  /** Adds a `timeouts` attribute with these defaults. */
  readonly timeouts?: Timeouts;
  /** For each older version: its state as JSON into the state of the version after it. */
  readonly upgraders?: Readonly<Record<number, (state: Readonly<Record<string, Json>>) => Record<string, Json>>>;

  /**
   * What of a stored state a new run begins with. Unlike a change that `read` makes, what is dropped here is no drift:
   * Terraform takes it for the upgrade of an older state.
   */
  recall?(state: StateOf<S>): StateOf<S>;
  /** Refines the plan. Pure over its request, or the second plan of an apply differs from the first. */
  plan?(request: PlanRequest<S, C>): PlanResult<S> | Promise<PlanResult<S>>;
  /** May refuse a destroy while it is only planned. */
  planDelete?(request: StateRequest<S, C>): void | Promise<void>;
  create(request: CreateRequest<S, C>): Promise<StateOf<S>>;
  /** Null: it is gone and the next plan creates it again. What can't be reached is not gone. */
  read(request: ReadRequest<S, C>): Promise<StateOf<S> | null>;
  /** Absent when every attribute replaces. */
  update?(request: UpdateRequest<S, C>): Promise<StateOf<S>>;
  delete(request: StateRequest<S, C>): Promise<void>;
  /** The attributes that `read` needs, from what the user typed. Absent: this type can't be imported. */
  import?(request: ImportRequest<C>): Promise<Partial<StateOf<S>>>;
  /** @default it has none */
  readonly identity?: Identity<S>;
  /** Types that `moved` blocks lead from. @default none */
  readonly moves?: readonly Move<S, C>[];
}

type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

type LogFields = Readonly<Record<string, string | number | boolean>>;

/** Goes to Terraform's own log (TF_LOG, TF_LOG_PROVIDER). Never write a secret here. */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;
