import type { AssemblyOperation } from '#domain/assemblies/model.ts';
import type { RunOptions } from '#domain/runs/options/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { RequestedOperation } from '#domain/shared/vocabulary/runs.ts';

/** The kind of scheduled work under which the engine knows schedules; it never changes. */
export const scheduleKind = 'schedule';

/** A run that a schedule starts, as a request for a run would name it. */
export interface RunWork {
  readonly kind: 'run';
  readonly templateId: string;
  readonly environmentId: string | null;
  readonly version: string | null;
  readonly instance: string | null;
  readonly operation: RequestedOperation;
  readonly replace: readonly string[];
  readonly options?: RunOptions | null | undefined;
  readonly variables: Record<string, JsonValue>;
  /** `deployed`: at each start, variables that are not named keep their deployed values, except those to omit. */
  readonly variablesFrom?: 'deployed' | undefined;
  readonly omit?: readonly string[] | undefined;
  readonly message: string;
}

/** An assembly run that a schedule starts, as a request for one would name it. */
export interface AssemblyWork {
  readonly kind: 'assembly_run';
  readonly assemblyId: string;
  readonly environmentId: string;
  readonly version: string;
  readonly operation: AssemblyOperation;
  readonly only: readonly string[] | null;
  readonly variables: Record<string, JsonValue>;
  readonly message: string;
}

export type Work = RunWork | AssemblyWork;

/** The work as answers show it: secret variables are masked. */
export type ShownWork = Work & { readonly variables: Record<string, JsonValue | Masked> };

/**
 * The outcomes of a firing. `pending`: a start was requested that has not happened yet. `skipped`: the earlier work of the schedule had not
 * ended. `missed`: the time passed and nobody tried to start the work.
 */
export const firingOutcomes = ['pending', 'started', 'skipped', 'failed', 'missed'] as const;
export type FiringOutcome = (typeof firingOutcomes)[number];

/** Why a firing started nothing, in words for people. A refusal shows the message of its error instead. */
export const firingReasons = {
  still_running: 'what it started before has not ended',
  authority_gone: 'the user or account that it runs as was deleted: have another person save the work',
  authority_disabled: 'the user or account that it runs as is disabled: have another person save the work',
  key_revoked: 'the API key with which the work was saved was revoked: save the work with another credential',
  key_expired: 'the API key with which the work was saved has expired: save the work with another credential',
  owner_changed:
    'the schedule came to another team or organization with a transfer, and is paused: have a person of the new owner save the work',
  not_permitted:
    'the user or account that it runs as may no longer start the work: have a person who may start it save the work',
  feature_disabled: 'an administrator has turned off schedules, or what the schedule starts',
  not_tried: 'nothing tried to start it: Temporal or all workers were down, or an earlier time was still being tried',
  refused: 'the service refused to start the work',
  internal: 'the service could not start the work: ask an operator, whose log says why',
} as const;
export type FiringReason = keyof typeof firingReasons;

/** Why a schedule is paused although nobody paused it. Nothing starts until somebody saves its work, or until its authority is restored. */
export const pauseReasons = [
  'owner_changed',
  'authority_gone',
  'authority_disabled',
  'key_revoked',
  'key_expired',
] as const satisfies readonly FiringReason[];
export type PauseReason = (typeof pauseReasons)[number];
