import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AttemptSuperseded } from '#domain/runs/errors.ts';
import type { AttemptState } from '#domain/runs/execution.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';

const retryMs = 1_000;
const context = (name: string): SealContext => ['state-spool', name];

/**
 * Takes what a tool says its state is, and lets it go on once that is on disk, sealed and synced. From there it goes to the
 * database in order, however long that is away: a state that a tool was told is kept is never lost.
 */
export class StateSpool {
  readonly #directory: string;
  readonly #keyRing: KeyRing;
  readonly #save: (state: AttemptState) => Promise<unknown>;
  readonly #log: Logger;
  readonly #pending = new Map<string, Promise<void>>();

  constructor(deps: {
    directory: string;
    keyRing: KeyRing;
    save: (state: AttemptState) => Promise<unknown>;
    log: Logger;
  }) {
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
      before.then(() => this.#commit(name, state)),
    );
  }

  /** Resolves once all states of an attempt are in the database. @throws AttemptSuperseded where they were refused */
  async settle(attemptId: string): Promise<void> {
    try {
      await this.#pending.get(attemptId);
    } finally {
      this.#pending.delete(attemptId);
    }
  }

  /** Takes up what an earlier process of this worker left. */
  async recover(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#directory)).filter((name) => /^[0-9a-f-]{36}\.\d{6}$/.test(name)).sort();
    for (const name of names) {
      const sealed = await readFile(join(this.#directory, name));
      const { content, ...rest } = this.#keyRing.openJson<Omit<AttemptState, 'content'> & { content: string }>(
        context(name),
        sealed,
      );
      await this.#commit(name, { ...rest, content: Buffer.from(content, 'base64') }).catch((error: unknown) => {
        this.#log.error(
          { err: error, file: name },
          'a state that was left behind belongs to an attempt that is over; it is kept aside',
        );
      });
    }
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

  async #commit(name: string, state: AttemptState): Promise<void> {
    const path = join(this.#directory, name);
    for (;;) {
      try {
        await this.#save(state);
        return await rm(path, { force: true });
      } catch (error) {
        if (error instanceof AttemptSuperseded) {
          await rename(path, `${path}.refused`);
          throw error;
        }
        this.#log.warn(
          { err: error, attempt_id: state.attemptId },
          'a state could not be saved yet; it is safe on disk',
        );
        await sleep(retryMs);
      }
    }
  }
}
