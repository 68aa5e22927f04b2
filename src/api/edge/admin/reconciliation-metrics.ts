import { Gauge, type Registry } from 'prom-client';
import type { Orm } from '#database/database.ts';
import { readReconciliation } from '#domain/shared/installation/installation.ts';

/**
 * Adds the results of the last comparison of runs with the workflow engine. A count that stays above zero is an alarm: the
 * engine has lost more runs than the workers end by themselves. While the database is down, the metrics keep their values.
 */
export function addReconciliationMetrics(registry: Registry, orm: Orm): void {
  const checked = new Gauge({
    name: 'reconciliation_timestamp_seconds',
    help: 'When unfinished runs were last compared with the workflow engine',
    registers: [registry],
  });
  const missed = new Gauge({
    name: 'reconciliation_runs_missed',
    help: 'Unfinished runs whose workflow the engine had lost at the last comparison',
    registers: [registry],
    collect: async () => {
      const found = await readReconciliation(orm.em.fork()).catch(() => null);
      if (found === null) return;
      missed.set(found.missed);
      checked.set((found.at?.getTime() ?? 0) / 1000);
    },
  });
}
