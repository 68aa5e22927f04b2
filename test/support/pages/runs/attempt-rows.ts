import { createHash } from 'node:crypto';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { AttemptOutcome, LogPhase, LogStream } from '#domain/shared/vocabulary/runs.ts';
import { idAt } from './ids.ts';
import { applyLines, planLines } from './log-lines.ts';
import { isFinished, type RunStory, type Timeline } from './stories/story.ts';

const linesPerChunk = 60;

interface Attempt {
  readonly id: string;
  readonly phase: 'planning' | 'applying';
  readonly from: number;
  readonly to: number | null;
  readonly outcome: AttemptOutcome | null;
}

/** The attempts of a run with what they logged. `current` is the one that still executes. */
export function toAttemptRows(story: RunStory, time: Timeline, workerId: string) {
  const attempts = attemptsOf(story, time);
  const chunks = new ChunkWriter(story.id);
  const rows = attempts.map(({ id, phase, from, to, outcome }) => {
    const [logBase, lineBase] = [chunks.rows.length, chunks.lines];
    const lines =
      story.log && phase === 'applying' ? story.log : phase === 'planning' ? planLines(story) : applyLines(story);
    const isLost = outcome === 'lost';
    const isOpen = outcome === null;
    const printed = isOpen || isLost ? lines.slice(0, Math.ceil(lines.length / 2)) : lines;
    chunks.add({
      attemptId: id,
      phase: phase === 'planning' ? 'plan' : 'apply',
      from,
      to: to ?? Date.now(),
      lines: printed,
    });
    return {
      id,
      runId: story.id,
      phase,
      workerId,
      isolation: 'sandbox' as const,
      logBase,
      lineBase,
      startedAt: new Date(from),
      finishedAt: to === null ? null : new Date(to),
      outcome,
    };
  });
  return { rows, chunks: chunks.rows, current: attempts.find(({ outcome }) => outcome === null)?.id ?? null };
}

function attemptsOf(story: RunStory, { started, planned, applying, finished }: Timeline): Attempt[] {
  const attempts: Attempt[] = [];
  if (started !== null) {
    const outcome = planned !== null ? (story.changes.length > 0 ? 'planned' : 'unchanged') : outcomeOf(story);
    attempts.push({ id: idAt(started), phase: 'planning', from: started + 400, to: planned ?? finished, outcome });
  }
  if (applying !== null)
    attempts.push({
      id: idAt(applying),
      phase: 'applying',
      from: applying + 300,
      to: finished,
      outcome: outcomeOf(story),
    });
  return attempts;
}

function outcomeOf(story: RunStory): AttemptOutcome | null {
  if (!isFinished(story)) return null;
  if (story.reason === 'apply_interrupted' || story.reason === 'plan_interrupted') return 'lost';
  const outcomes: Partial<Record<RunStory['status'], AttemptOutcome>> = {
    succeeded: 'applied',
    failed: 'failed',
    canceled: 'canceled',
    timed_out: 'timed_out',
  };
  return outcomes[story.status] ?? null;
}

interface Piece {
  readonly attemptId: string;
  readonly phase: LogPhase;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Cuts lines into chunks whose times spread over their attempt. */
class ChunkWriter {
  readonly rows: ReturnType<typeof chunkOf>[] = [];
  lines = 0;
  readonly #runId: string;

  constructor(runId: string) {
    this.#runId = runId;
  }

  add({ attemptId, phase, from, to, lines }: Piece): void {
    for (let start = 0; start < lines.length; start += linesPerChunk) {
      const part = lines.slice(start, start + linesPerChunk);
      const time = new Date(from + ((to - from) * start) / lines.length);
      const stream: LogStream = part.some((line) => line.includes('Error:')) ? 'stderr' : 'stdout';
      this.rows.push(
        chunkOf(
          { runId: this.#runId, sequence: this.rows.length + 1, time, attemptId, phase, stream, firstLine: this.lines },
          part,
        ),
      );
      this.lines += part.length;
    }
  }
}

type Place = {
  runId: string;
  sequence: number;
  time: Date;
  attemptId: string;
  phase: LogPhase;
  stream: LogStream;
  firstLine: number;
};

export function chunkOf(place: Place, lines: readonly string[]) {
  const content = Buffer.from(`${lines.join('\n')}\n`);
  return {
    ...place,
    lines: lines.length,
    content,
    checksum: `sha256:${createHash('sha256').update(content).digest('hex')}`,
  };
}

/** Whether a run that ended for this reason had begun to apply. */
export function endsWhileApplying(reason: StatusReason | null): boolean {
  return (
    reason !== null &&
    ['apply_failed', 'apply_interrupted', 'apply_timeout', 'step_failed', 'state_conflict'].includes(reason)
  );
}
