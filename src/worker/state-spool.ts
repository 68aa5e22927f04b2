import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseAway, isPassingError, sqlState } from '#database/errors.ts';
import { checkWriteNumber } from '#domain/runs/attempts/checks.ts';
import type { RefusedState } from '#domain/runs/attempts/refused-state.ts';
import type { StateOutcome } from '#domain/runs/attempts/state.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** How long the database may refuse a state for a reason that passes, such as a full disk, before that counts as final. */
const patienceMs = 5 * 60_000;
/** A draft that is as old as this was left by a worker that died over it, before its tool was told anything. */
const draftIsLeftAfterMs = 10 * 60_000;
const context = (name: string): SealContext => ['state-spool', name];

type Save = (state: AttemptState) => Promise<StateOutcome>;
type Note = (refused: Omit<RefusedState, 'workerId'>) => Promise<void>;

/** What came of an attempt's states: all are in the database or kept aside as outdated, or one of them was refused. */
export type SpoolVerdict = 'settled' | 'refused';

export interface StateSpoolDeps {
  readonly directory: string;
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly save: Save;
  /** Says in the story of a run that a state was set aside. */
  readonly note: Note;
  readonly patienceMs?: number;
}

/**
 * Takes what a tool says its state is, and lets it go on once that is on disk, sealed and synced. From there it goes to the
 * database in order, however long that is away: a state that a tool was told is kept is never lost. A state that the database
 * or a rule refuses for good is set aside on disk for people, and its attempt goes on to its end. Workers may share the
 * directory: a state that two of them bring to the database is one.
 */
export class StateSpool {
  readonly #deps: StateSpoolDeps;
  readonly #directory: string;
  readonly #keyRing: KeyRing;
  readonly #log: Logger;
  readonly #pending = new Map<string, Promise<SpoolVerdict>>();
  /** When a state was first refused for a reason that passes, by its file. */
  readonly #failingSince = new Map<string, number>();
  #isClosed = false;

  constructor(deps: StateSpoolDeps) {
    this.#deps = deps;
    this.#directory = deps.directory;
    this.#keyRing = deps.keyRing;
    this.#log = deps.log;
  }

  /** Brings nothing more to the database: what is on disk stays there for the next worker. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Resolves once the state is durable on this machine. `onRefused` is called where it turns out that it cannot be stored.
   * @throws AttemptWriteRefused where it has no number by which it could be kept
   */
  async add(state: AttemptState, onRefused: () => void = () => undefined): Promise<void> {
    checkWriteNumber(state.write);
    const name = `${state.attemptId}.${String(state.write).padStart(6, '0')}`;
    await this.#write(name, state);
    const before = this.#pending.get(state.attemptId) ?? Promise.resolve('settled');
    this.#pending.set(
      state.attemptId,
      before.then(async (verdict) => {
        if ((await this.#bring(name, state)) === 'settled') return verdict;
        onRefused();
        return 'refused';
      }),
    );
  }

  /** Resolves once all states of an attempt are in the database, or kept aside on disk. */
  async settle(attemptId: string): Promise<SpoolVerdict> {
    const verdict = await this.#pending.get(attemptId);
    this.#pending.delete(attemptId);
    return verdict ?? 'settled';
  }

  /** Takes up what other processes left. What cannot be read or saved now stays where it is, for the next time. */
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
      await this.#tryOnce(name, { ...state, content: Buffer.from(state.content, 'base64') });
    } catch (error) {
      if (isMissing(error)) return; // another worker has brought it home meanwhile
      this.#log.error({ err: error, file: name }, 'a state that was left behind could not be read; it stays on disk');
    }
  }

  async #removeOldDraft(name: string): Promise<void> {
    const path = join(this.#directory, name);
    const written = await stat(path).catch(() => null);
    if (written && Date.now() - written.mtimeMs > draftIsLeftAfterMs) await rm(path, { force: true });
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

  /** Tries until the database has decided: nothing else is worth as much as this state. */
  async #bring(name: string, state: AttemptState): Promise<SpoolVerdict> {
    for (let pause = firstRetryMs; ; pause = Math.min(pause * 2, longestRetryMs)) {
      const verdict = await this.#tryOnce(name, state);
      if (verdict !== 'later') return verdict;
      if (this.#isClosed) return 'settled';
      await sleep(pause);
    }
  }

  /** `later`: the state stays where it is, since the database is away or may take it in a while. */
  async #tryOnce(name: string, state: AttemptState): Promise<SpoolVerdict | 'later'> {
    let fate: StateOutcome;
    try {
      fate = await this.#deps.save(state);
    } catch (error) {
      if (this.#mayPass(name, error)) return this.#postpone(state, error);
      return this.#setAside(name, state, error);
    }
    this.#failingSince.delete(name);
    await this.#file(name, state.attemptId, fate).catch((error: unknown) =>
      this.#log.error({ err: error, file: name }, 'the file of a state that the database has could not be moved'),
    );
    return 'settled';
  }

  #postpone(state: AttemptState, error: unknown): 'later' {
    const level = isDatabaseAway(error) ? 'warn' : 'error';
    this.#log[level](
      { err: error, attempt_id: state.attemptId },
      'a state could not be saved yet; it is safe on disk, and saving it is tried again',
    );
    return 'later';
  }

  #mayPass(name: string, error: unknown): boolean {
    if (this.#isClosed || isDatabaseAway(error)) return true;
    if (!isPassingError(error)) return false;
    const since = this.#failingSince.get(name) ?? Date.now();
    this.#failingSince.set(name, since);
    return Date.now() - since < (this.#deps.patienceMs ?? patienceMs);
  }

  /** Tells the run first: whoever dies in between finds the state where it was, and does both again. */
  async #setAside(
    name: string,
    { attemptId, write, content }: AttemptState,
    error: unknown,
  ): Promise<'refused' | 'later'> {
    const refused = { attemptId, write, digest: digestOf(content), file: `${name}.refused`, problem: describe(error) };
    try {
      await this.#deps.note(refused);
    } catch (failure) {
      if (this.#mayPass(name, failure)) return 'later';
      this.#log.error(
        { err: failure, attempt_id: attemptId },
        'the run could not be told that its state was set aside',
      );
    }
    const { file, digest, problem } = refused;
    this.#log.error(
      { err: error, attempt_id: attemptId, write, digest, file, problem },
      'ALARM: a state could not be stored; it is set aside in the spool, sealed, for people to look at',
    );
    await this.#hide(name);
    this.#failingSince.delete(name);
    return 'refused';
  }

  /** A file that cannot be renamed stays what it is, and is judged again by the next worker that finds it. */
  async #hide(name: string): Promise<void> {
    const path = join(this.#directory, name);
    await rename(path, `${path}.refused`).catch((error: unknown) => {
      if (!isMissing(error)) this.#log.error({ err: error, file: name }, 'a refused state could not be renamed');
    });
  }

  /** Puts a state's file where it belongs now that the database has decided. */
  async #file(name: string, attemptId: string, fate: StateOutcome): Promise<void> {
    const path = join(this.#directory, name);
    if (fate === 'late') {
      this.#log.warn({ attempt_id: attemptId }, 'a state of an attempt that is over became the latest of its instance');
    }
    if (fate !== 'outdated') return rm(path, { force: true });
    this.#log.error(
      { attempt_id: attemptId, file: `${name}.refused` },
      'a state of an attempt that is over is older than its instance by now; it is kept aside for people to compare',
    );
    await rename(path, `${path}.refused`).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** For everybody who may read the run: what the database says may repeat what it was given. */
function describe(error: unknown): string {
  if (error instanceof AttemptWriteRefused) return error.message;
  const code = sqlState(error);
  return code ? `the database refused it (${code})` : 'it could not be stored; the log of the worker says why';
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
