import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { makePartitions } from '#database/partitions.ts';
import { removeExpired } from '#domain/audit/retention.ts';
import { removeOldSessions } from '#domain/identity/sessions/cleaning.ts';
import { Rounds } from './rounds.ts';

const everyMs = 10 * 60_000;

/**
 * What the database needs now and again, from whichever process is there: months ahead for logs and audit, and an end to
 * what is out of retention and to sessions of long ago. Cheap where there is nothing to do, so that every process does it and none is special.
 */
export class Upkeep {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #auditRetentionDays: number | null;
  readonly #rounds: Rounds;

  constructor(deps: { orm: Orm; log: Logger; auditRetentionDays: number | null }) {
    this.#orm = deps.orm;
    this.#log = deps.log;
    this.#auditRetentionDays = deps.auditRetentionDays;
    const failure = 'the database could not be looked after';
    this.#rounds = new Rounds({ everyMs, log: deps.log, failure, round: () => this.#doAll() });
  }

  start(): void {
    this.#rounds.start('now');
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #doAll(): Promise<void> {
    await this.#attempt('months of logs and audit could not be made ahead', () => this.#makeAhead());
    await this.#attempt('audit records out of retention could not be removed', () => this.#removeExpired());
    await this.#attempt('sessions that ended long ago could not be removed', () => this.#removeOldSessions());
  }

  async #makeAhead(): Promise<void> {
    await makePartitions(this.#orm.em.fork());
  }

  async #removeExpired(): Promise<void> {
    const days = this.#auditRetentionDays;
    if (days === null) return;
    const months = await removeExpired(this.#orm.em.fork(), days);
    if (months.length > 0) this.#log.info({ months }, 'audit records out of retention were removed');
  }

  async #removeOldSessions(): Promise<void> {
    const sessions = await removeOldSessions(this.#orm.em.fork());
    if (sessions > 0) this.#log.info({ sessions }, 'sessions that ended long ago were removed');
  }

  async #attempt(failure: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.warn({ err: error }, `${failure}; trying again`);
    }
  }
}
