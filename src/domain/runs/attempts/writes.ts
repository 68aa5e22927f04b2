import type { MaskedAddresses } from '#domain/instances/state-file/shown-resource.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { AttemptOutcome, LogStream } from '#domain/shared/vocabulary/runs.ts';
import type { Diagnostic } from '../diagnostics/model.ts';
import type { PlanSummary, ResourceChange } from '../plans/model.ts';
import type { PlanSections } from '../plans/sections.ts';
import type { PlannedModules } from './kept-modules.ts';

/** What an attempt writes: states and chunks of log while it is executed, and one result at its end. */

/** A state that the tool has written during an attempt. It is stored before the tool gets its answer. */
export interface AttemptState {
  readonly attemptId: string;
  /** Counts the attempt's writes, from 1. */
  readonly write: number;
  readonly content: Buffer;
  /** The addresses of resources with their secrets masked. A worker of an earlier release does not send it. */
  readonly maskedAddresses?: MaskedAddresses | undefined;
  /** The outputs that are secret because of the template or their content. A worker of an earlier release does not send it. */
  readonly secretOutputs?: readonly string[] | undefined;
}

/** A chunk of the log of an attempt. `sequence` counts within the attempt, from 1. */
export interface LogChunk {
  readonly sequence: number;
  readonly phase: string;
  readonly stream: LogStream;
  readonly time: string;
  readonly content: Buffer;
  readonly firstLine: number;
  readonly lines: number;
  readonly checksum: string;
}

/** The result of an attempt. */
export interface AttemptResult {
  readonly outcome: Exclude<AttemptOutcome, 'lost'>;
  readonly reason: StatusReason | null;
  readonly tool: { name: string; version: string } | null;
  readonly plan?: {
    changes: ResourceChange[];
    sections: PlanSections;
    summary: PlanSummary;
    executorDigest: string;
    artifact: Buffer;
  };
  /** The modules that the plan resolved, if they were not known before. */
  readonly modules?: PlannedModules;
  readonly outputs?: MaskedOutputs;
  /** The errors and warnings of the tool or the steps. */
  readonly diagnostics?: readonly Diagnostic[];
  /** What the tool logged about itself, redacted. */
  readonly debugLog?: Buffer | undefined;
  /** Why the attempt failed, in the service's own words. */
  readonly message?: string | null;
  /** The current number of the instance's resources, if the tool reports it. */
  readonly resourceCount?: number;
}
