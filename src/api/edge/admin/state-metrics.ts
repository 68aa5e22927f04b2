import { Gauge, type Registry } from 'prom-client';
import type { Orm } from '#database/database.ts';
import { countRefusedStates } from '#domain/shared/installation/installation.ts';

/**
 * Shows how many states of attempts were ever set aside, since they could not be stored. Every rise is an alarm: somebody
 * has to compare what is deployed with the latest state. While the database is away, the metric keeps its last value.
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
