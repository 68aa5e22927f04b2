import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { ExecutorSession } from '#executors/client.ts';
import type { CommandExecutor, ExecutionResult } from '#executors/protocol.ts';
import { findProcesses, makeRequest, makeWorkRoot, RecordingSink, shell } from './support.ts';

/** The attempts of a run that follow each other at once, with or without the same executor process. */
const work = makeWorkRoot();
const workRoot = work.path;
afterAll(work.remove);

const whoAmI = 'echo executor $PPID in $PWD';
const noChanges = 'echo "[]" > plan.json';
const steps = (plan: string, apply = whoAmI): CommandExecutor => ({
  kind: 'command',
  plan: [shell(`${noChanges}; ${plan}`)],
  apply: [shell(apply)],
});

interface Ran {
  readonly result: ExecutionResult;
  readonly text: string;
  /** The executor's process, as the step saw it. */
  readonly executor: string;
  readonly directory: string;
}

async function attempt(
  session: ExecutorSession,
  executor: CommandExecutor,
  { runId, planned = null }: { runId: string; planned?: Ran | null },
): Promise<Ran> {
  const sink = new RecordingSink();
  const { artifact = null, digest = null } = planned?.result.plan ?? {};
  const phase = planned ? 'apply' : 'plan';
  const request = makeRequest({ workRoot, executor, runId, phase, artifact, planDigest: digest });
  const result = await session.execute(request, sink, new AbortController().signal);
  const [, process = '', directory = ''] = /executor (\d+) in (\S+)/.exec(sink.text()) ?? [];
  return { result, text: sink.text(), executor: process, directory };
}

/** A plan and the apply after it. */
async function both(executor: CommandExecutor, runIds: [string, string]): Promise<[Ran, Ran]> {
  const session = new ExecutorSession();
  try {
    const planned = await attempt(session, executor, { runId: runIds[0] });
    return [planned, await attempt(session, executor, { runId: runIds[1], planned })];
  } finally {
    session.close();
  }
}

describe('an apply that follows its plan at once', () => {
  it('has the same executor, and a directory of its own that holds nothing of the plan', async () => {
    const runId = randomUUID();
    const [planned, applied] = await both(steps(`${whoAmI}; touch left`, `${whoAmI}; ls`), [runId, runId]);
    expect(applied.result).toMatchObject({ outcome: 'succeeded' });
    expect(applied.executor).toBe(planned.executor);
    expect(applied.directory).not.toBe(planned.directory);
    expect(existsSync(planned.directory)).toBe(false);
    expect(applied.text).not.toContain('left');
  });

  it('finds no process of the plan alive', async () => {
    const runId = randomUUID();
    const [, applied] = await both(steps('setsid sleep 616161 & sleep 0.1', `${whoAmI}; ps ax`), [runId, runId]);
    expect(applied.result).toMatchObject({ outcome: 'succeeded' });
    expect(applied.text).not.toContain('616161');
    expect(findProcesses('616161')).toEqual([]);
  });

  it('hides in its log what the plan had to hide', async () => {
    const runId = randomUUID();
    const session = new ExecutorSession();
    const executor = steps('cat variables.json', 'cat variables.json');
    const secret = { variables: { token: 'very-secret-token' }, sensitiveVariables: ['token'] };
    const sink = new RecordingSink();
    const run = (rest: object) =>
      session.execute(
        makeRequest({ workRoot, executor, runId, ...secret, ...rest }),
        sink,
        new AbortController().signal,
      );
    const { plan } = await run({ phase: 'plan' });
    const applied = await run({ phase: 'apply', artifact: plan?.artifact, planDigest: plan?.digest });
    session.close();
    expect(applied).toMatchObject({ outcome: 'succeeded' });
    expect(sink.text()).not.toContain('very-secret-token');
  });
});

describe('a new executor', () => {
  it('is for every other run', async () => {
    const [planned, applied] = await both(steps(whoAmI), [randomUUID(), randomUUID()]);
    expect(applied.result).toMatchObject({ outcome: 'succeeded' });
    expect(applied.executor).not.toBe(planned.executor);
  });

  it('follows an attempt that failed', async () => {
    const runId = randomUUID();
    const [session, broken] = [new ExecutorSession(), steps(`${whoAmI}; exit 3`)];
    const first = await attempt(session, broken, { runId });
    const second = await attempt(session, broken, { runId });
    session.close();
    expect(first.result).toMatchObject({ outcome: 'failed', reason: 'step_failed' });
    expect(second.executor).not.toBe(first.executor);
  });
});

it('leaves no executor behind when it is closed', async () => {
  const session = new ExecutorSession();
  const planned = await attempt(session, steps(whoAmI), { runId: randomUUID() });
  expect(existsSync(`/proc/${planned.executor}`)).toBe(true);
  session.close();
  await expect.poll(() => existsSync(`/proc/${planned.executor}`)).toBe(false);
});
