import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { now, type Span } from '#domain/shared/tasks/spans.ts';
import type { Installation } from '../installation/installation.ts';
import { awaitSuccess } from '../load/runs.ts';

/** A run from its request to its end, as its client sees it. Times are those of `now`. */
export interface TimedRun {
  /** The id of its workflow. */
  readonly key: string;
  readonly sentAt: number;
  /** When the request was answered. */
  readonly answeredAt: number;
  /** When a client that waits learned that it has succeeded. */
  readonly seenAt: number;
}

/** Admits a run of a new instance and waits for its end, as clients should (`wait`). */
export async function timeRun({ http }: Installation, request: object): Promise<TimedRun> {
  const key = randomUUID();
  const sentAt = now();
  const body = { ...request, instance: `bench-${key}` };
  const answer = await http.send('POST', '/runs', body, { 'idempotency-key': key });
  if (answer.status !== 202) throw new Error(`a run was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  const answeredAt = now();
  await awaitSuccess(http, answer.body);
  return { key, sentAt, answeredAt, seenAt: now() };
}

/** Something that happened during a run, in milliseconds since its request. `took` is null for what has no length. */
export interface Moment {
  readonly what: string;
  readonly at: number;
  readonly took: number | null;
}

/** The spans that began during each run. The runs must have been one after another. */
export function spansOfRuns(runs: readonly TimedRun[], spans: readonly Span[]): Span[][] {
  return runs.map(({ sentAt }, index) => {
    const next = runs[index + 1]?.sentAt ?? Number.POSITIVE_INFINITY;
    return spans.filter(({ startedAt }) => startedAt >= sentAt && startedAt < next);
  });
}

/** All that happened during a run: what its client saw, its spans, and what the engine recorded. */
export function momentsOf(run: TimedRun, spans: readonly Span[], history: readonly HistoryEvent[]): Moment[] {
  const timed = spans.map((span) => ({
    what: describe(span),
    at: span.endedAt - run.sentAt,
    took: span.endedAt - span.startedAt,
  }));
  return [
    { what: 'the request is answered', at: run.answeredAt - run.sentAt, took: null },
    { what: 'a client that waits sees the end', at: run.seenAt - run.sentAt, took: null },
    ...timed,
    ...history.flatMap(({ what, at }) => (what === null ? [] : [{ what, at: at - run.sentAt, took: null }])),
  ];
}

function describe({ name, facts }: Span): string {
  const words = name.replaceAll('_', ' ');
  if (facts.operation !== undefined) return `${words} \`${facts.operation}\``;
  return facts.call === undefined ? words : `${words} of \`${facts.call}\``;
}

const events = {
  workflowExecutionStartedEventAttributes: 'engine: the workflow starts',
  workflowTaskStartedEventAttributes: 'engine: a worker gets a task of the workflow',
  activityTaskScheduledEventAttributes: 'engine: an attempt is scheduled',
  activityTaskStartedEventAttributes: 'engine: a worker gets an attempt',
  activityTaskCompletedEventAttributes: 'engine: an attempt has ended',
  workflowExecutionCompletedEventAttributes: 'engine: the workflow has ended',
} as const;

/** An event in the history of a run's workflow; `what` is null for one that says nothing about the run. */
interface HistoryEvent {
  readonly what: string | null;
  readonly at: number;
}

/** The history of a run's workflow. */
export async function readHistory(engine: Client, key: string): Promise<HistoryEvent[]> {
  const { events: recorded } = await engine.workflow.getHandle(key).fetchHistory();
  return (recorded ?? []).map((event) => {
    const [, what = null] =
      Object.entries(events).find(([attributes]) => event[attributes as keyof typeof events]) ?? [];
    const { seconds, nanos } = event.eventTime ?? {};
    return { what, at: Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6 };
  });
}
