import { createHash } from 'node:crypto';
import { refuseStateOfPlanning } from '#domain/runs/attempts/checks.ts';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { recordRefusedState } from '#domain/runs/attempts/refused-state.ts';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { timed } from '#domain/shared/tasks/spans.ts';
import type { ExecutionSink, LogChunk, StateMeta } from '#executors/protocol/request.ts';
import type { AttemptDeps } from '../deps.ts';
import { writeWithRetry } from '../write-with-retry.ts';

/** Stores an attempt's logs in the database and its states in the spool, and records whether a state was refused. */
export class AttemptSink implements ExecutionSink {
  readonly #deps: AttemptDeps;
  readonly #work: AttemptWork;
  readonly #refusal = new AbortController();

  constructor(deps: AttemptDeps, work: AttemptWork) {
    this.#deps = deps;
    this.#work = work;
  }

  /** Aborts when a state is refused. If the attempt continued, it would make changes that no state records. */
  get stateRefused(): AbortSignal {
    return this.#refusal.signal;
  }

  log(chunk: LogChunk): Promise<void> {
    const attemptId = this.#work.attempt.id;
    return timed('store_log', { attemptId }, () =>
      writeWithRetry(this.#deps, attemptId, (em) => appendLog(em, attemptId, chunk)),
    );
  }

  async state(content: Buffer, { write, maskedAddresses, secretOutputs }: StateMeta): Promise<void> {
    const { run, attempt } = this.#work;
    try {
      refuseStateOfPlanning(run, attempt);
      const state = { attemptId: attempt.id, write, content, maskedAddresses, secretOutputs };
      await timed('keep_state', { runId: run.id, attemptId: attempt.id }, () =>
        this.#deps.spool.add(state, () => this.#refusal.abort()),
      );
    } catch (error) {
      if (error instanceof AttemptWriteRefused) await this.#noteRefusal(content, error);
      throw error;
    }
  }

  /** Records the first state that was refused before it was written to disk. The tool gets an error. */
  async #noteRefusal(content: Buffer, { message: problem }: AttemptWriteRefused): Promise<void> {
    if (this.#refusal.signal.aborted) return;
    this.#refusal.abort();
    const { log, transactions, workerId } = this.#deps;
    const attemptId = this.#work.attempt.id;
    log.error(
      { attempt_id: attemptId, problem },
      'ALARM: an attempt sent a state that it must not send; the state was refused',
    );
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const refused = { attemptId, write: null, digest, file: null, workerId, problem };
    await writeWithRetry(this.#deps, attemptId, () => transactions.run((tx) => recordRefusedState(tx, refused)));
  }
}

/** Ignores that another attempt has replaced this one, which ends it but is not an error. */
export function ignoreSuperseded(error: unknown): void {
  if (!(error instanceof AttemptSuperseded)) throw error;
}
