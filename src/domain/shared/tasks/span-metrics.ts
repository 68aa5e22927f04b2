import { Histogram, type Registry } from 'prom-client';
import { listenToSpans } from './spans.ts';

/** Adds how long the work of this process takes, by what it is (`spanMeanings`). @returns ends that */
export function addSpanMetrics(registry: Registry): () => void {
  const duration = new Histogram({
    name: 'span_duration_seconds',
    help: 'Time that a part of the work took, and of calls of programs also by which program',
    labelNames: ['span', 'call'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300],
    registers: [registry],
  });
  return listenToSpans(({ name, startedAt, endedAt, facts: { call = '' } }) =>
    duration.observe({ span: name, call }, Math.max(0, endedAt - startedAt) / 1000),
  );
}
