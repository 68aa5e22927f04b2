import { channel } from 'node:diagnostics_channel';

/**
 * What the processes time, and where each span begins and ends. The list is short and fixed, because the names are values of a label of a
 * metric (docs/operating.md, *Health*).
 */
export const spanMeanings = {
  command: 'a command of a caller or of the service itself, from its first statement to its commit',
  deliver: 'a message to the workflow engine, from its sending to its answer',
  next_step: 'the next step of a run, decided and committed for its workflow',
  begin: 'a queued run that a worker begins, until it has the first attempt with everything that it needs',
  claim: 'an attempt, until a worker has it with everything that it needs',
  execute: 'an attempt in the executor, from its request to its result',
  sandbox: 'a call of a program: its files and its sandbox, until the program starts',
  program: 'a call of a program, from its start to its exit',
  results: 'a call of a program: reading what it left, and ending its sandbox',
  store_log: 'a piece of log, until the database has it',
  keep_state: 'a state that a tool wrote, until the disk of the worker has it',
  store_state: 'a state that a tool wrote, until the database has it',
  store_result: 'the result of an attempt and the next step of its run, until they are committed',
} as const;
export type SpanName = keyof typeof spanMeanings;

/** The programs that an attempt calls, by what they do. A step of a command template is `step`, whatever its author calls it. */
export const programCalls = ['init', 'validate', 'plan', 'show', 'apply', 'output', 'step'] as const;
export type ProgramCall = (typeof programCalls)[number];

/** What a span is about. It names resources by their ids, and never has a value of a template or a secret. */
export interface SpanFacts {
  readonly runId?: string;
  readonly attemptId?: string;
  /** The id of the operation that a command carries out. */
  readonly operation?: string;
  readonly call?: ProgramCall;
}

/** A piece of work that has ended, whether it succeeded or failed. */
export interface Span {
  readonly name: SpanName;
  /** Milliseconds since 1970 with fractions (`now`), so that spans of several processes of a machine can be compared. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly facts: SpanFacts;
}

const spans = channel('coordinator:spans');

/** The time in milliseconds since 1970, with fractions. It never goes back, unlike the clock of the machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Announces a span to those of this process who listen. */
export function announceSpan(span: Span): void {
  if (spans.hasSubscribers) spans.publish(span);
}

/** Does the work and announces how long it took. Costs nothing while nobody listens. */
export function timed<Result>(name: SpanName, facts: SpanFacts, work: () => Promise<Result>): Promise<Result> {
  return spans.hasSubscribers ? measure(name, facts, work) : work();
}

async function measure<Result>(name: SpanName, facts: SpanFacts, work: () => Promise<Result>): Promise<Result> {
  const startedAt = now();
  try {
    return await work();
  } finally {
    announceSpan({ name, startedAt, endedAt: now(), facts });
  }
}

/** Calls the listener with each span of this process from now on. @returns ends that */
export function listenToSpans(listener: (span: Span) => void): () => void {
  const receive = (message: unknown) => listener(message as Span);
  spans.subscribe(receive);
  return () => void spans.unsubscribe(receive);
}
