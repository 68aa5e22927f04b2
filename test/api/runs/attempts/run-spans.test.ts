import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenToSpans, type Span, spanMeanings } from '#domain/shared/tasks/spans.ts';
import { findFreePort } from '#local/ports.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { network, publish, runToEnd } from '#test/support/templates.ts';

const token = 's3cr3t-token-value';
let system: System;
let metricsPort: number;
/** The spans of the API and the worker, which are in this process, during one run. */
const spans: Span[] = [];
let runId: string;

beforeAll(async () => {
  metricsPort = await findFreePort();
  system = await startSystem({ WORKER_METRICS_PORT: String(metricsPort) });
  const template_id = await publish(system.administrator, 'network', network);
  const stop = listenToSpans((span) => spans.push(span));
  const run = await runToEnd(system.administrator, { template_id, variables: { token } });
  stop();
  expect(run.status).toBe('succeeded');
  runId = run.id;
});
afterAll(() => system?.close());

/** When the first span of a name began and the last one ended. */
function extentOf(name: Span['name'], about: Partial<Span['facts']> = {}): { startedAt: number; endedAt: number } {
  const own = spans.filter((span) => {
    const facts: Record<string, unknown> = { ...span.facts };
    return span.name === name && Object.entries(about).every(([fact, value]) => facts[fact] === value);
  });
  expect(own.length, `spans ${name}`).toBeGreaterThan(0);
  return {
    startedAt: Math.min(...own.map(({ startedAt }) => startedAt)),
    endedAt: Math.max(...own.map(({ endedAt }) => endedAt)),
  };
}

it('a run that a worker begins announces a span of every kind, but for those of runs that wait and of states that are stored early', () => {
  const announced = new Set(spans.map(({ name }) => name));
  expect(Object.keys(spanMeanings).filter((name) => !announced.has(name as Span['name']))).toEqual([
    'next_step',
    'claim',
    'store_state',
  ]);
});

it('the spans of a run follow each other as its parts do', () => {
  const ends = [
    extentOf('command', { operation: 'runs.create' }).endedAt,
    extentOf('program', { call: 'plan' }).endedAt,
    extentOf('program', { call: 'show' }).endedAt,
    extentOf('program', { call: 'apply' }).endedAt,
    extentOf('store_result').endedAt,
  ];
  expect(ends).toEqual([...ends].sort((one, other) => one - other));
  const executed = extentOf('execute', { runId });
  const called = extentOf('program', { runId });
  expect(called.startedAt).toBeGreaterThan(executed.startedAt);
  expect(called.endedAt).toBeLessThan(executed.endedAt);
});

it('the spans of a run name no value of its variables', () => {
  expect(JSON.stringify(spans)).not.toContain(token);
});

it('the metrics of the API and of the worker have the spans', async () => {
  for (const url of [`${system.adminUrl}/metrics`, `http://127.0.0.1:${metricsPort}/metrics`]) {
    const text = await (await fetch(url)).text();
    expect(text).toMatch(/span_duration_seconds_count\{span="command",call=""\} [1-9]/);
    expect(text).toMatch(/span_duration_seconds_count\{span="program",call="plan"\} 1/);
    expect(text).not.toContain(runId);
  }
});
