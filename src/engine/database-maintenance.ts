import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { makePartitions } from '#database/partitions.ts';
import { removeExpired } from '#domain/audit/retention.ts';
import { removeOldSessions } from '#domain/identity/sessions/cleaning.ts';
import { readRetentionDays } from '#domain/settings/retention.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { PeriodicTask } from './periodic-task.ts';

const intervalMs = 10 * 60_000;

export interface DatabaseMaintenanceDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  /** Unless the settings say otherwise; null: audit records are kept for good. */
  readonly auditRetentionDays: number | null;
}

/**
 * Makes the partitions of coming months for logs and audit, and removes audit records out of retention and sessions that
 * ended long ago. Every process does it: a run with nothing to do is cheap, and concurrent runs do no harm.
 */
export class DatabaseMaintenance {
  readonly #deps: DatabaseMaintenanceDeps;
  readonly #task: PeriodicTask;

  constructor(deps: DatabaseMaintenanceDeps) {
    this.#deps = deps;
    const failure = 'could not maintain the database';
    this.#task = new PeriodicTask({ intervalMs, log: deps.log, failure, run: () => this.#doAll() });
  }

  start(): void {
    this.#task.start('now');
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #doAll(): Promise<void> {
    await this.#attempt('could not make partitions for logs and audit', () => this.#makePartitions());
    await this.#attempt('could not remove audit records out of retention', () => this.#removeExpired());
    await this.#attempt('could not remove sessions that ended long ago', () => this.#removeOldSessions());
  }

  async #makePartitions(): Promise<void> {
    await makePartitions(this.#deps.orm.em.fork());
  }

  async #removeExpired(): Promise<void> {
    const { orm, log, auditRetentionDays } = this.#deps;
    const days = await readRetentionDays(orm.em.fork(), 'audit', auditRetentionDays);
    if (days === null) return;
    const months = await removeExpired(orm.em.fork(), this.#deps, days);
    if (months.length > 0) log.info({ months }, 'removed the audit records out of retention');
  }

  async #removeOldSessions(): Promise<void> {
    const { orm, log } = this.#deps;
    const sessions = await removeOldSessions(orm.em.fork());
    if (sessions > 0) log.info({ sessions }, 'removed the sessions that ended long ago');
  }

  async #attempt(failure: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#deps.log.warn({ err: error }, `${failure}; trying again`);
    }
  }
}
