import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AttemptState, StateFate } from '#domain/runs/attempt-state.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import { isConnectionError } from '#domain/shared/sql.ts';

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** A draft that is as old as this was left by a worker that died over it, before its tool was told anything. */
const draftIsLeftAfterMs = 10 * 60_000;
const context = (name: string): SealContext => ['state-spool', name];

type Save = (state: AttemptState) => Promise<StateFate>;

/**
 * Takes what a tool says its state is, and lets it go on once that is on disk, sealed and synced. From there it goes to the
 * database in order, however long that is away: a state that a tool was told is kept is never lost. Workers may share the
 * directory: a state that two of them bring to the database is one.
 */
export class StateSpool {
  readonly #directory: string;
  readonly #keyRing: KeyRing;
  readonly #save: Save;
  readonly #log: Logger;
  readonly #pending = new Map<string, Promise<void>>();

  constructor(deps: { directory: string; keyRing: KeyRing; save: Save; log: Logger }) {
    this.#directory = deps.directory;
    this.#keyRing = deps.keyRing;
    this.#save = deps.save;
    this.#log = deps.log;
  }

  /** Resolves once the state is durable on this machine. */
  async add(state: AttemptState): Promise<void> {
    const name = `${state.attemptId}.${String(state.write).padStart(6, '0')}`;
    await this.#write(name, state);
    const before = this.#pending.get(state.attemptId) ?? Promise.resolve();
    this.#pending.set(
      state.attemptId,
      before.then(() => this.#bring(name, state)),
    );
  }

  /** Resolves once all states of an attempt are in the database, or kept aside where they are outdated. */
  async settle(attemptId: string): Promise<void> {
    await this.#pending.get(attemptId);
    this.#pending.delete(attemptId);
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
      const fate = await this.#save({ ...state, content: Buffer.from(state.content, 'base64') });
      await this.#file(name, state.attemptId, fate);
    } catch (error) {
      if (isMissing(error)) return; // another worker has brought it home meanwhile
      this.#log.error({ err: error, file: name }, 'a state that was left behind could not be saved; it stays on disk');
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

  /** Tries until it is done: nothing else is worth as much as this state. */
  async #bring(name: string, state: AttemptState): Promise<void> {
    for (let pause = firstRetryMs; ; pause = Math.min(pause * 2, longestRetryMs)) {
      try {
        return await this.#file(name, state.attemptId, await this.#save(state));
      } catch (error) {
        const level = isConnectionError(error) ? 'warn' : 'error';
        this.#log[level](
          { err: error, attempt_id: state.attemptId },
          'a state could not be saved yet; it is safe on disk',
        );
        await sleep(pause);
      }
    }
  }

  /** Puts a state's file where it belongs now that the database has decided. */
  async #file(name: string, attemptId: string, fate: StateFate): Promise<void> {
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
