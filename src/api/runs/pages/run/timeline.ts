import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { RunOperation, RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { getEvents } from '../../log-operations.ts';

/** The events of a run as the API shows them. */
export type ShownEvent = EncodedAnswerOf<(typeof getEvents)['responses']>['events'][number];

export type StepKey = 'queued' | 'planning' | 'detecting' | 'approval' | 'held' | 'applying' | 'canceling';

export interface TimelineStep {
  readonly key: StepKey;
  /** Milliseconds since 1970; null for a step that has not begun. */
  readonly from: number | null;
  /** Milliseconds since 1970; null while the step is not over. */
  readonly to: number | null;
  /** How many workers were lost during it. */
  readonly lost: number;
}

/** The steps in which the run only waits. */
const idleSteps: readonly StepKey[] = ['queued', 'approval', 'held'];

/** The step that an event begins. */
const begins: Partial<Record<ShownEvent['type'], StepKey>> = {
  'run.admitted': 'queued',
  'run.planning': 'planning',
  'run.approval_required': 'approval',
  'run.held': 'held',
  'run.applying': 'applying',
  'run.cancel_requested': 'canceling',
  'run.gave_way': 'canceling',
};

/** The events that end a step without beginning another one. */
const ends: readonly ShownEvent['type'][] = ['run.planned', 'run.finished'];

/** The steps of a run, from its events in order: past steps, the current one, and those that are still to come. */
export function toSteps(run: { operation: RunOperation; finished_at: string | null }, events: readonly ShownEvent[]) {
  const steps: { key: StepKey; from: number; to: number | null; lost: number }[] = [];
  for (const { type, at } of events) {
    const current = steps.findLast(({ to }) => to === null);
    const next = stepOf(run.operation, begins[type]);
    if (type === 'run.attempt_lost' && current) current.lost += 1;
    if (next === current?.key || (next === undefined && !ends.includes(type))) continue;
    if (current) current.to = Date.parse(at);
    if (next) steps.push({ key: next, from: Date.parse(at), to: null, lost: 0 });
  }
  return run.finished_at === null ? [...steps, ...stepsToCome(run.operation, steps)] : steps;
}

/** The steps of operations that change nothing. All others plan and apply. */
const usualSteps: { readonly [operation in RunOperation]?: readonly StepKey[] } = {
  plan: ['planning'],
  scan: ['detecting'],
};

/** The step that a scan shows for planning: it compares. */
function stepOf(operation: RunOperation, step: StepKey | undefined): StepKey | undefined {
  return operation === 'scan' && step === 'planning' ? 'detecting' : step;
}

function stepsToCome(operation: RunOperation, begun: readonly { readonly key: StepKey }[]): TimelineStep[] {
  if (begun.some(({ key }) => key === 'canceling')) return [];
  const usual = usualSteps[operation] ?? ['planning', 'applying'];
  const missing = usual.filter((key) => !begun.some((step) => step.key === key));
  return missing.map((key) => ({ key, from: null, to: null, lost: 0 }));
}

/** The place of a step in the bar, in units of `barWidth`. */
export interface BarPart {
  readonly key: StepKey;
  readonly x: number;
  readonly width: number;
  /** The bar shows the step shorter than it was, because the run only waited in it. */
  readonly isFolded: boolean;
}

export const barWidth = 1000;
const foldedWidth = 48;
const narrowest = 6;
/** A wait is folded if it takes at least this fraction of the time in which something was executed. */
const foldedFrom = 0.1;

/**
 * Arranges the steps along a bar, in proportion to their durations. Long waits are folded, because they would leave no space for the other
 * steps.
 */
export function layOutBar(steps: readonly TimelineStep[], now: number): BarPart[] {
  const begun = steps.filter(({ from }) => from !== null);
  const lengths = begun.map(({ from, to }) => Math.max(0, (to ?? now) - (from ?? now)));
  const isIdle = (index: number) => idleSteps.includes(begun[index]?.key ?? 'queued');
  const busy = lengths.reduce((sum, length, index) => (isIdle(index) ? sum : sum + length), 0);
  const isFolded = (index: number) => isIdle(index) && busy > 0 && (lengths[index] ?? 0) >= busy * foldedFrom;
  const drawn = lengths.reduce((sum, length, index) => (isFolded(index) ? sum : sum + length), 0);
  const room = barWidth - foldedWidth * begun.filter((_, index) => isFolded(index)).length - narrowest * begun.length;
  let x = 0;
  return begun.map(({ key }, index) => {
    const share = drawn > 0 ? (room * (lengths[index] ?? 0)) / drawn : room / begun.length;
    const width = narrowest + (isFolded(index) ? foldedWidth : share);
    x += width;
    return { key, x: x - width, width, isFolded: isFolded(index) };
  });
}

/** Whether the run failed or timed out: its last step is coloured accordingly. */
export function isBadEnd(status: RunStatus): boolean {
  return status === 'failed' || status === 'timed_out';
}
