import { Gauge, type Registry } from 'prom-client';
import type { Orm } from '#database/database.ts';
import { countRefusedStates } from '#domain/shared/installation/installation.ts';

/**
 * Adds the number of attempts' states that could not be stored and were set aside. Every increase is an alarm: an operator
 * must compare the deployed resources with the latest state. While the database is down, the metric keeps its value.
 */
export function addStateMetrics(registry: Registry, orm: Orm): void {
  const refused = new Gauge({
    name: 'states_refused',
    help: 'States of attempts that could not be stored and were set aside, since the installation was made',
    registers: [registry],
    collect: async () => {
      const count = await countRefusedStates(orm.em.fork()).catch(() => null);
      if (count !== null) refused.set(count);
    },
  });
}
