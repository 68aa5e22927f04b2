import { type PlanSummary, type ResourceChange, summarizePlan } from '#domain/runs/plans/model.ts';
import { countSections, noSections, type PlanSections } from '#domain/runs/plans/sections.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { RunOperation, RunPhase, RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { Actor, Place } from '../places.ts';

/** What happened to a run. All of its rows follow from this. */
export interface RunStory {
  readonly id: string;
  readonly place: Place;
  readonly operation: RunOperation;
  readonly by: Actor;
  /** When it was admitted, in milliseconds. */
  readonly at: number;
  readonly message: string;
  readonly status: RunStatus;
  /** How far it came, or where it ended. */
  readonly reached: Exclude<RunPhase, 'finished'>;
  readonly reason: StatusReason | null;
  readonly waitingOn: (Partial<WaitingOn> & Pick<WaitingOn, 'code'>) | null;
  /** What its plan changes; it came no further than planning unless it has a plan. */
  readonly changes: readonly ResourceChange[];
  /** What its plan holds besides; nothing unless the story says it. */
  readonly sections?: PlanSections;
  readonly required: number;
  readonly reviews: readonly StoryReview[];
  readonly comments: readonly StoryComment[];
  readonly asked: readonly Actor[];
  /** How long its phases took, in seconds. */
  readonly seconds: {
    readonly queue: number;
    readonly plan: number;
    readonly approval: number;
    readonly apply: number;
  };
  readonly requeuedFrom: string | null;
  readonly log: readonly string[] | null;
}

export interface StoryReview {
  readonly by: Actor;
  readonly decision: 'approve' | 'reject';
  readonly comment: string;
}

export interface StoryComment {
  readonly by: Actor;
  readonly text: string;
  /** Seconds after the admission. */
  readonly after: number;
}

/** When each part of a run began; null for what it never reached. */
export interface Timeline {
  readonly admitted: number;
  readonly started: number | null;
  readonly planned: number | null;
  readonly approvalAsked: number | null;
  readonly decided: number | null;
  readonly applying: number | null;
  readonly finished: number | null;
}

const order = ['queued', 'planning', 'approval', 'applying'] as const;
const terminal: readonly RunStatus[] = ['succeeded', 'failed', 'canceled', 'timed_out'];

export function isFinished({ status }: Pick<RunStory, 'status'>): boolean {
  return terminal.includes(status);
}

/** The counts of its plan. */
export function summaryOf({ changes, sections = noSections }: RunStory): PlanSummary {
  return summarizePlan(changes, countSections(sections));
}

/** Whether a run got through planning. */
export function hasPlan(story: RunStory): boolean {
  const { reached, status } = story;
  return order.indexOf(reached) > order.indexOf('planning') || (reached === 'planning' && status === 'succeeded');
}

export function timelineOf(story: RunStory): Timeline {
  const { at, seconds, reached, required } = story;
  const has = (phase: (typeof order)[number]) => order.indexOf(reached) >= order.indexOf(phase);
  const started = has('planning') ? at + seconds.queue * 1000 : null;
  const planEnd = (started ?? at) + seconds.plan * 1000;
  const planned = hasPlan(story) ? planEnd : null;
  const approvalAsked = planned !== null && required > 0 && has('approval') ? planned + 40 : null;
  const decided = (planned ?? planEnd) + (approvalAsked === null ? 0 : seconds.approval * 1000);
  const applying = has('applying') ? decided + 60 : null;
  const end = applying === null ? (reached === 'approval' ? decided : planEnd) : applying + seconds.apply * 1000;
  const finished = isFinished(story) ? (reached === 'queued' ? at + seconds.queue * 1000 : end) : null;
  return { admitted: at, started, planned, approvalAsked, decided, applying, finished };
}
