import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseUnreachable, isTransientError, sqlState } from '#database/errors.ts';
import { checkWriteNumber } from '#domain/runs/attempts/checks.ts';
import type { RefusedState } from '#domain/runs/attempts/refused-state.ts';
import type { StateOutcome } from '#domain/runs/attempts/state.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import { HeldState } from './held-state.ts';
import { refusedName, SpoolDirectory } from './spool-directory.ts';

const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
/** How long the database may refuse a state for a temporary reason, such as a full disk, before the refusal counts as final. */
const giveUpAfterMs = 5 * 60_000;

type Save = (state: AttemptState) => Promise<StateOutcome>;
type RecordRefusal = (refused: Omit<RefusedState, 'workerId'>) => Promise<void>;

/** `settled`: all states of an attempt are in the database or were set aside as outdated; `refused`: one could not be stored. */
export type SpoolVerdict = 'settled' | 'refused';

export interface StateSpoolDeps {
  readonly directory: string;
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly save: Save;
  /** Records in the run that a state was set aside. */
  readonly recordRefusal: RecordRefusal;
  readonly giveUpAfterMs?: number;
}

/**
 * Accepts the states that tools write, and answers a tool once its state is on disk, sealed and synced. Then it saves the states of an
 * attempt to the database in order, however long the database is unreachable: a state that a tool knows to be stored is never lost. A state
 * that the database or a rule finally refuses is set aside on disk for people, and its attempt continues to its end. Workers may share the
 * directory: a state that two of them save is stored once.
 */
export class StateSpool {
  readonly #deps: StateSpoolDeps;
  readonly #directory: SpoolDirectory;
  readonly #log: Logger;
  readonly #pending = new Map<string, Promise<SpoolVerdict>>();
  /** The latest state of each attempt, until it is decided who saves it. */
  readonly #held = new Map<string, HeldState>();
  /** When a state was first refused for a temporary reason, by its file. */
  readonly #failingSince = new Map<string, number>();
  #isClosed = false;

  constructor(deps: StateSpoolDeps) {
    this.#deps = deps;
    this.#directory = new SpoolDirectory(deps.directory, deps.keyRing);
    this.#log = deps.log;
  }

  /** Stops saving to the database. The states on disk stay there for the next worker. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Resolves once the state is durable on this machine. `onRefused` is called if the state turns out to be unstorable.
   * @throws AttemptWriteRefused if the number of the write is invalid
   */
  async add(state: AttemptState, onRefused: () => void = () => undefined): Promise<void> {
    checkWriteNumber(state.write);
    const name = await this.#directory.write(state);
    const { attemptId } = state;
    this.#held.get(attemptId)?.decide('spool');
    const before = this.#pending.get(attemptId) ?? Promise.resolve('settled');
    const held = new HeldState(name, state, before);
    this.#held.set(attemptId, held);
    this.#pending.set(
      attemptId,
      before.then(async (verdict) => {
        const savedBy = await held.savedBy;
        if (this.#held.get(attemptId) === held) this.#held.delete(attemptId);
        if (savedBy === 'result' || (await this.#save(name, state)) === 'settled') return verdict;
        onRefused();
        return 'refused';
      }),
    );
  }

  /**
   * Ends the states of an attempt. If the last one is not saved yet, `store` gets it, to save it by the transaction that stores the result.
   * If that fails, the state is saved by itself, and `store` is called again without it.
   */
  async settleWith<Result>(
    attemptId: string,
    store: (verdict: SpoolVerdict, last: AttemptState | null) => Promise<Result>,
  ): Promise<Result> {
    const held = this.#held.get(attemptId);
    const isFirst = held && (await held.earlier) === 'settled';
    if (!isFirst || !held.take()) return store(await this.settle(attemptId), null);
    try {
      const result = await store('settled', held.state);
      await this.#tidyStored(held.name, attemptId, 'kept');
      held.decide('result');
      await this.settle(attemptId);
      return result;
    } catch (error) {
      this.#log.warn(
        { err: error, attempt_id: attemptId },
        'could not store a state and a result together; storing the state first',
      );
      return store(await this.settle(attemptId), null);
    }
  }

  /** Resolves once all states of an attempt are in the database or set aside on disk. */
  async settle(attemptId: string): Promise<SpoolVerdict> {
    this.#held.get(attemptId)?.decide('spool');
    const verdict = await this.#pending.get(attemptId);
    this.#pending.delete(attemptId);
    return verdict ?? 'settled';
  }

  /** Saves the states that other processes left. A state that cannot be read or saved now stays on disk for the next time. */
  async recover(): Promise<void> {
    await this.#directory.removeOldDrafts();
    for (const { name, attemptId } of await this.#directory.list()) {
      if (!this.#pending.has(attemptId)) await this.#recover(name);
    }
  }

  async #recover(name: string): Promise<void> {
    try {
      const state = await this.#directory.read(name);
      if (state) await this.#trySave(name, state);
    } catch (error) {
      this.#log.error({ err: error, file: name }, 'could not read a state that another worker left; it stays on disk');
    }
  }

  /** Tries until the database has stored or refused the state. */
  async #save(name: string, state: AttemptState): Promise<SpoolVerdict> {
    for (let pause = firstRetryMs; ; pause = Math.min(pause * 2, maxRetryMs)) {
      const verdict = await this.#trySave(name, state);
      if (verdict !== 'later') return verdict;
      if (this.#isClosed) return 'settled';
      await sleep(pause);
    }
  }

  /** Tries once to save a state. `later`: the state stays on disk, because the database is unreachable or may store it soon. */
  async #trySave(name: string, state: AttemptState): Promise<SpoolVerdict | 'later'> {
    let fate: StateOutcome;
    try {
      fate = await this.#deps.save(state);
    } catch (error) {
      if (this.#isTemporary(name, error)) return this.#postpone(state, error);
      return this.#setAside(name, state, error);
    }
    this.#failingSince.delete(name);
    await this.#tidyStored(name, state.attemptId, fate);
    return 'settled';
  }

  async #tidyStored(name: string, attemptId: string, fate: StateOutcome): Promise<void> {
    await this.#tidy(name, attemptId, fate).catch((error: unknown) =>
      this.#log.error({ err: error, file: name }, 'could not move the file of a state that is in the database'),
    );
  }

  #postpone(state: AttemptState, error: unknown): 'later' {
    const level = isDatabaseUnreachable(error) ? 'warn' : 'error';
    this.#log[level](
      { err: error, attempt_id: state.attemptId },
      'could not save a state yet; it is safe on disk, and saving it is tried again',
    );
    return 'later';
  }

  #isTemporary(name: string, error: unknown): boolean {
    if (this.#isClosed || isDatabaseUnreachable(error)) return true;
    if (!isTransientError(error)) return false;
    const since = this.#failingSince.get(name) ?? Date.now();
    this.#failingSince.set(name, since);
    return Date.now() - since < (this.#deps.giveUpAfterMs ?? giveUpAfterMs);
  }

  /** Sets a state aside. It records the refusal before it renames the file, so a worker that dies in between repeats both. */
  async #setAside(
    name: string,
    { attemptId, write, content }: AttemptState,
    error: unknown,
  ): Promise<'refused' | 'later'> {
    const refused = {
      attemptId,
      write,
      digest: digestOf(content),
      file: refusedName(name),
      problem: describeError(error),
    };
    try {
      await this.#deps.recordRefusal(refused);
    } catch (failure) {
      if (this.#isTemporary(name, failure)) return 'later';
      this.#log.error(
        { err: failure, attempt_id: attemptId },
        'could not record in the run that its state was set aside',
      );
    }
    const { file, digest, problem } = refused;
    this.#log.error(
      { err: error, attempt_id: attemptId, write, digest, file, problem },
      'ALARM: a state could not be stored; it is set aside in the spool, sealed, for people to look at',
    );
    await this.#markRefused(name);
    this.#failingSince.delete(name);
    return 'refused';
  }

  /**
   * Renames the file of a refused state. If that fails, the file keeps its name, and the next worker that finds it tries again to save it.
   */
  async #markRefused(name: string): Promise<void> {
    await this.#directory.setAside(name).catch((error: unknown) => {
      this.#log.error({ err: error, file: name }, 'could not rename the file of a refused state');
    });
  }

  /** Removes the file of a stored state. Sets that of an outdated one aside. */
  async #tidy(name: string, attemptId: string, fate: StateOutcome): Promise<void> {
    if (fate === 'late') {
      this.#log.warn(
        { attempt_id: attemptId },
        'a state of an attempt that had ended became the latest of its instance',
      );
    }
    if (fate !== 'outdated') return this.#directory.remove(name);
    this.#log.error(
      { attempt_id: attemptId, file: refusedName(name) },
      'a state of an attempt that had ended is older than the latest of its instance; it is set aside for people to compare',
    );
    await this.#directory.setAside(name);
  }
}

/** The problem, in words for readers of the run. A message of the database is left out, because it may repeat values. */
function describeError(error: unknown): string {
  if (error instanceof AttemptWriteRefused) return error.message;
  const code = sqlState(error);
  return code ? `the database refused it (${code})` : 'it could not be stored; the log of the worker says why';
}
