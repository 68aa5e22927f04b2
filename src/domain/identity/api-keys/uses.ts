import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';

/**
 * Notes when keys were last used, at most once a minute each, beside the requests that use them: none waits for it. Keys
 * that come up while one write is under way go out together in the next. A note that fails is made by a later use.
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

  /** Called where the database's own note is older than a minute. */
  note(keyId: string): void {
    if (this.#underWay.has(keyId)) return;
    this.#due.add(keyId);
    this.#writing ??= this.#writeDue();
  }

  /** Resolves once all that was noted is written. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  async #writeDue(): Promise<void> {
    while (this.#due.size > 0) {
      this.#underWay = new Set(this.#due);
      this.#due.clear();
      await this.#write([...this.#underWay]).catch((error: unknown) =>
        this.#log.warn({ err: error }, 'the last use of API keys could not be noted'),
      );
    }
    this.#underWay = new Set();
    this.#writing = undefined;
  }

  /** In the order of ids, so that processes which note the same keys never wait for each other in a circle. */
  async #write(keys: readonly string[]): Promise<void> {
    await this.#orm.em.fork().execute(
      `insert into api_key_uses (key_id, last_used_at) select id, now() from unnest(?::uuid[]) as id order by id
       on conflict (key_id) do update set last_used_at = excluded.last_used_at
        where api_key_uses.last_used_at < now() - interval '1 minute'`,
      [pgArray(keys)],
    );
  }
}
