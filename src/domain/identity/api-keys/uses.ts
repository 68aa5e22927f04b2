import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { recordUses } from './store.ts';

/**
 * Records when keys were last used, at most once a minute each. No request waits for it. Keys that are used during a write are recorded
 * together by the next write. If a write fails, a later use of the keys is recorded instead.
 */
export class KeyUses {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #due = new Set<string>();
  #underWay: ReadonlySet<string> = new Set();
  #writing: Promise<void> | undefined;

  constructor(orm: Orm, log: Logger) {
    this.#orm = orm;
    this.#log = log;
  }

  /** Called for a key whose last recorded use is more than a minute old. */
  note(keyId: string): void {
    if (this.#underWay.has(keyId)) return;
    this.#due.add(keyId);
    this.#writing ??= this.#writeDue();
  }

  /** Resolves once every noted use is written. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  async #writeDue(): Promise<void> {
    while (this.#due.size > 0) {
      this.#underWay = new Set(this.#due);
      this.#due.clear();
      await recordUses(this.#orm.em.fork(), [...this.#underWay]).catch((error: unknown) =>
        this.#log.warn(
          { err: error },
          'could not record the last use of API keys; their next use will be recorded instead',
        ),
      );
    }
    this.#underWay = new Set();
    this.#writing = undefined;
  }
}
