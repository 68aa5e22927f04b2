import { afterAll, expect, it } from 'vitest';
import { listenToSpans, now, type Span } from '#domain/shared/tasks/spans.ts';
import type { ExecutionResult } from '#executors/protocol/request.ts';
import { maxHostSpans } from '#executors/protocol/result-schema.ts';
import { makeRequest, makeWorkRoot, requireTools, run, runScript, runSteps, shell } from '../support.ts';

const root = makeWorkRoot();
afterAll(() => root.remove());

const ids = { attemptId: 'attempt-1', runId: 'run-1' };

/** The spans that the host measures while the work is done, as the worker announces them. */
async function spansOf(work: () => Promise<unknown>): Promise<Span[]> {
  const heard: Span[] = [];
  const stop = listenToSpans((span) => heard.push(span));
  await work().finally(stop);
  return heard;
}

const partsOf = (spans: readonly Span[]) => spans.map(({ name, facts }) => `${name} ${facts.call}`);

it('a worker announces the parts of each call of a tool, one after the other, with the ids of the attempt', async () => {
  await requireTools();
  const before = now();
  let result: ExecutionResult | undefined;
  const spans = await spansOf(async () => {
    const files = { 'main.tf': 'resource "terraform_data" "one" { input = "1" }\n' };
    const request = makeRequest({ workRoot: root.path, executor: { kind: 'opentofu', files }, phase: 'plan' });
    ({ result } = await run(request));
  });
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(result).not.toHaveProperty('spans');
  expect(partsOf(spans).slice(-6)).toEqual([
    ...['sandbox plan', 'program plan', 'results plan'],
    ...['sandbox show', 'program show', 'results show'],
  ]);
  expect(spans.every(({ facts }) => facts.runId === ids.runId && facts.attemptId === ids.attemptId)).toBe(true);
  const times = spans.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(times[0]).toBeGreaterThan(before - 50);
  expect(times.at(-1)).toBeLessThan(now() + 50);
});

it('the time of a program is between its start and its exit', async () => {
  const spans = await spansOf(() => runScript(root.path, 'sleep 2'));
  const program = spans.find(({ name }) => name === 'program');
  const tookMs = (program?.endedAt ?? 0) - (program?.startedAt ?? 0);
  // A busy host notices the start late.
  expect(tookMs).toBeGreaterThanOrEqual(1_000);
});

it('a worker announces the steps of a command template without the names that its author gave them', async () => {
  const spans = await spansOf(() => runSteps(root.path, { apply: [shell('true', { name: 'plan' })] }));
  expect(partsOf(spans)).toEqual(['sandbox step', 'program step', 'results step']);
  expect(JSON.stringify(spans)).not.toContain('plan');
});

it('a worker announces the calls of an attempt that failed', async () => {
  const spans = await spansOf(() => runScript(root.path, 'exit 5'));
  expect(partsOf(spans)).toEqual(['sandbox step', 'program step', 'results step']);
});

it('an attempt with very many steps succeeds, and its result has the first spans', async () => {
  const apply = Array.from({ length: 50 }, () => shell('true'));
  let outcome: ExecutionResult['outcome'] | undefined;
  const spans = await spansOf(async () => {
    outcome = (await runSteps(root.path, { apply })).result.outcome;
  });
  expect(outcome).toBe('succeeded');
  expect(spans).toHaveLength(maxHostSpans);
});
