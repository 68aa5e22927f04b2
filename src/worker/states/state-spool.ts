import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseAway, isTransientError, sqlState } from '#database/errors.ts';
import { checkWriteNumber } from '#domain/runs/attempts/checks.ts';
import type { RefusedState } from '#domain/runs/attempts/refused-state.ts';
import type { StateOutcome } from '#domain/runs/attempts/state.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import { digestOf } from '#domain/shared/digest.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** How long the database may refuse a state for a temporary reason, such as a full disk, before the refusal counts as final. */
const giveUpAfterMs = 5 * 60_000;
/** A draft this old was left by a worker that died while writing it. Its tool never learned that the state was kept. */
const abandonedDraftMs = 10 * 60_000;
const context = (name: string): SealContext => ['state-spool', name];

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
 * Takes the states that tools write, and answers a tool once its state is on disk, sealed and synced. From there it saves the
 * states of an attempt to the database in order, however long the database is unreachable: a state that a tool was told is kept is
 * never lost. A state that the database or a rule refuses for good is set aside on disk for people, and its attempt goes on to its
 * end. Workers may share the directory: a state that two of them save is stored once.
 */
export class StateSpool {
  readonly #deps: StateSpoolDeps;
  readonly #directory: string;
  readonly #keyRing: KeyRing;
  readonly #log: Logger;
  readonly #pending = new Map<string, Promise<SpoolVerdict>>();
  /** When a state was first refused for a temporary reason, by its file. */
  readonly #failingSince = new Map<string, number>();
  #isClosed = false;

  constructor(deps: StateSpoolDeps) {
    this.#deps = deps;
    this.#directory = deps.directory;
    this.#keyRing = deps.keyRing;
    this.#log = deps.log;
  }

  /** Stops saving to the database. The states on disk stay there for the next worker. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Resolves once the state is durable on this machine. `onRefused` is called when the state turns out to be unstorable.
   * @throws AttemptWriteRefused where the number of the write is invalid
   */
  async add(state: AttemptState, onRefused: () => void = () => undefined): Promise<void> {
    checkWriteNumber(state.write);
    const name = `${state.attemptId}.${String(state.write).padStart(6, '0')}`;
    await this.#write(name, state);
    const before = this.#pending.get(state.attemptId) ?? Promise.resolve('settled');
    this.#pending.set(
      state.attemptId,
      before.then(async (verdict) => {
        if ((await this.#save(name, state)) === 'settled') return verdict;
        onRefused();
        return 'refused';
      }),
    );
  }

  /** Resolves once all states of an attempt are in the database or set aside on disk. */
  async settle(attemptId: string): Promise<SpoolVerdict> {
    const verdict = await this.#pending.get(attemptId);
    this.#pending.delete(attemptId);
    return verdict ?? 'settled';
  }

  /** Saves the states that other processes left. A state that cannot be read or saved now stays on disk for the next time. */
  async recover(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#directory)).sort();
    for (const name of names) {
      if (name.endsWith('.new')) await this.#removeOldDraft(name);
      const [, attemptId] = /^([0-9a-f-]{36})\.\d{6}$/.exec(name) ?? [];
      if (attemptId !== undefined && !this.#pending.has(attemptId)) await this.#recover(name);
    }
  }

  async #recover(name: string): Promise<void> {
    try {
      const sealed = await readFile(join(this.#directory, name));
      const state = this.#keyRing.openJson<Omit<AttemptState, 'content'> & { content: string }>(context(name), sealed);
      await this.#trySave(name, { ...state, content: Buffer.from(state.content, 'base64') });
    } catch (error) {
      if (isMissing(error)) return; // Another worker has saved it meanwhile.
      this.#log.error({ err: error, file: name }, 'could not read a state that another worker left; it stays on disk');
    }
  }

  async #removeOldDraft(name: string): Promise<void> {
    const path = join(this.#directory, name);
    const written = await stat(path).catch(() => null);
    if (written && Date.now() - written.mtimeMs > abandonedDraftMs) await rm(path, { force: true });
  }

  async #write(name: string, state: AttemptState): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const sealed = this.#keyRing.sealJson(context(name), { ...state, content: state.content.toString('base64') });
    const path = join(this.#directory, name);
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(sealed);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    const directory = await open(this.#directory, 'r');
    await directory.sync().finally(() => directory.close());
  }

  /** Tries until the database has stored or refused the state. */
  async #save(name: string, state: AttemptState): Promise<SpoolVerdict> {
    for (let pause = firstRetryMs; ; pause = Math.min(pause * 2, longestRetryMs)) {
      const verdict = await this.#trySave(name, state);
      if (verdict !== 'later') return verdict;
      if (this.#isClosed) return 'settled';
      await sleep(pause);
    }
  }

  /** `later`: the state stays on disk, since the database is unreachable or may store it in a while. */
  async #trySave(name: string, state: AttemptState): Promise<SpoolVerdict | 'later'> {
    let fate: StateOutcome;
    try {
      fate = await this.#deps.save(state);
    } catch (error) {
      if (this.#isTemporary(name, error)) return this.#postpone(state, error);
      return this.#setAside(name, state, error);
    }
    this.#failingSince.delete(name);
    await this.#tidy(name, state.attemptId, fate).catch((error: unknown) =>
      this.#log.error({ err: error, file: name }, 'could not move the file of a state that is in the database'),
    );
    return 'settled';
  }

  #postpone(state: AttemptState, error: unknown): 'later' {
    const level = isDatabaseAway(error) ? 'warn' : 'error';
    this.#log[level](
      { err: error, attempt_id: state.attemptId },
      'could not save a state yet; it is safe on disk, and saving it is tried again',
    );
    return 'later';
  }

  #isTemporary(name: string, error: unknown): boolean {
    if (this.#isClosed || isDatabaseAway(error)) return true;
    if (!isTransientError(error)) return false;
    const since = this.#failingSince.get(name) ?? Date.now();
    this.#failingSince.set(name, since);
    return Date.now() - since < (this.#deps.giveUpAfterMs ?? giveUpAfterMs);
  }

  /** Records the refusal before it renames the file: a worker that dies in between does both again. */
  async #setAside(
    name: string,
    { attemptId, write, content }: AttemptState,
    error: unknown,
  ): Promise<'refused' | 'later'> {
    const refused = {
      attemptId,
      write,
      digest: digestOf(content),
      file: `${name}.refused`,
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

  /** A file that cannot be renamed keeps its name, and the next worker that finds it tries again to save it. */
  async #markRefused(name: string): Promise<void> {
    const path = join(this.#directory, name);
    await rename(path, `${path}.refused`).catch((error: unknown) => {
      if (!isMissing(error))
        this.#log.error({ err: error, file: name }, 'could not rename the file of a refused state');
    });
  }

  /** Removes the file of a stored state, and keeps that of an outdated one aside. */
  async #tidy(name: string, attemptId: string, fate: StateOutcome): Promise<void> {
    const path = join(this.#directory, name);
    if (fate === 'late') {
      this.#log.warn(
        { attempt_id: attemptId },
        'a state of an attempt that had ended became the latest of its instance',
      );
    }
    if (fate !== 'outdated') return rm(path, { force: true });
    this.#log.error(
      { attempt_id: attemptId, file: `${name}.refused` },
      'a state of an attempt that had ended is older than the latest of its instance; it is set aside for people to compare',
    );
    await rename(path, `${path}.refused`).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }
}

/** The problem as readers of the run see it. A message of the database is left out, since it may repeat what it was given. */
function describeError(error: unknown): string {
  if (error instanceof AttemptWriteRefused) return error.message;
  const code = sqlState(error);
  return code ? `the database refused it (${code})` : 'it could not be stored; the log of the worker says why';
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
