import { Counter, Gauge, type Registry } from 'prom-client';
import type { Executor } from '#executors/client/executor.ts';

const counters = {
  hits: 'Providers that an initialization took from the store of the worker',
  fetches: 'Providers that were fetched, checked and added to the store',
  evictions: 'Providers that were removed from the store, because it was larger than its limit',
} as const;

/** Adds what a worker's executor does with its store of providers. */
export function addProviderMetrics(registry: Registry, executor: Pick<Executor, 'providerCounts'>): void {
  const registers = [registry];
  for (const name of Object.keys(counters) as (keyof typeof counters)[]) {
    const counter = new Counter({
      name: `provider_store_${name}_total`,
      help: counters[name],
      registers,
      collect: () => {
        counter.reset();
        counter.inc(executor.providerCounts[name]);
      },
    });
  }
  const size: Gauge = new Gauge({
    name: 'provider_store_bytes',
    help: 'Size of the unpacked providers in the store',
    registers,
    collect: () => {
      size.set(executor.providerCounts.bytes);
    },
  });
}
