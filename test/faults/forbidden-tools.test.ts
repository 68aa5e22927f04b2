import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NoUsableTool } from '#domain/runs/errors.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun } = await openRunStepsApi();
let pools = 0;
/** Each test has its own pool. */
let pool: string;
beforeEach(async () => {
  pool = `tools-${++pools}`;
  await admin.make('/worker-pools', { name: pool });
});
afterEach(() => allow(null));

async function allow(tools: object | null): Promise<void> {
  const { status, text } = await admin.patch('/admin/settings', { allowed_tools: tools });
  expect(status, text).toBe(200);
}

const old = { name: 'opentofu', version: '1.7.3' };
const recent = { name: 'opentofu', version: '1.10.0' };
const terraform = { name: 'terraform', version: '1.9.0' };
const spec = () => ({ pool, executor: { kind: 'opentofu', files: { 'main.tf': 'output "a" { value = 1 }' } } });
const admit = (request: object = {}) => steps.admit(request, spec());

describe('a plan', () => {
  it('is not made with a tool that was forbidden between dispatch and claim, and waits for another worker', async () => {
    const worker = await steps.worker('none', pool, [old]);
    const runId = await admit();
    const attemptId = executing(await steps.next({ runId }));
    await allow({ opentofu: ['>=1.8'] });
    await expect(steps.claim(attemptId, worker, 'none', [old])).rejects.toThrow(NoUsableTool);
    await steps.abandon(attemptId, worker, 'handed_back');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({ status: 'running', waiting_on: { code: 'no_worker' } });
    const other = await steps.worker('none', pool, [recent]);
    const again = executing(await steps.next({ runId, executed: attemptId }));
    expect(await steps.claim(again, other, 'none', [recent])).toMatchObject({ tool: recent });
  });

  it('is not made by a worker of the pool that has no allowed tool, although another worker has one', async () => {
    await allow({ opentofu: ['>=1.8'] });
    const [weak, strong] = [await steps.worker('none', pool, [old]), await steps.worker('none', pool, [recent])];
    const attemptId = executing(await steps.next({ runId: await admit() }));
    await expect(steps.claim(attemptId, weak, 'none', [old])).rejects.toThrow(
      /cannot use any tool of this worker \(has: opentofu 1\.7\.3\)/,
    );
    expect(await steps.claim(attemptId, strong, 'none', [recent])).toMatchObject({ tool: recent });
  });

  it('is made with the first tool of its worker that is allowed', async () => {
    const tools = [old, terraform];
    const worker = await steps.worker('none', pool, tools);
    const first = executing(await steps.next({ runId: await admit() }));
    expect(await steps.claim(first, worker, 'none', tools)).toMatchObject({ tool: old });
    await allow({ terraform: ['*'] });
    const second = executing(await steps.next({ runId: await admit() }));
    expect(await steps.claim(second, worker, 'none', tools)).toMatchObject({ tool: terraform });
  });

  it('is made with the kind of tool that wrote the state, although its worker prefers another', async () => {
    const tools = [recent, terraform];
    const worker = await steps.worker('none', pool, tools);
    const runId = await admit();
    await api.rows(`update instances set tool = 'terraform' where id = (select instance_id from runs where id = ?)`, [
      runId,
    ]);
    const attemptId = executing(await steps.next({ runId }));
    expect(await steps.claim(attemptId, worker, 'none', tools)).toMatchObject({ tool: terraform });
  });

  it('a plan of a destroy is made with a forbidden tool, so that what exists can be removed', async () => {
    const worker = await steps.worker('none', pool, [old]);
    const runId = await admit({ operation: 'destroy' });
    await allow({ opentofu: ['>=1.8'] });
    const attemptId = executing(await steps.next({ runId }));
    expect(await steps.claim(attemptId, worker, 'none', [old])).toMatchObject({ tool: old });
  });

  it('a plan of a command template needs no tool', async () => {
    const worker = await steps.worker('none', pool);
    const attemptId = executing(await steps.next({ runId: await steps.admit({}, { pool }) }));
    expect(await steps.claim(attemptId, worker, 'none')).toMatchObject({ tool: null });
  });
});

describe('an apply', () => {
  it('keeps the tool of its plan, although that was forbidden meanwhile', async () => {
    const worker = await steps.worker('none', pool, [old]);
    const runId = await admit();
    const planning = executing(await steps.next({ runId }));
    await steps.claim(planning, worker, 'none', [old]);
    await steps.complete(planning, { outcome: 'planned', plan: aPlan(), tool: old });
    await allow({ opentofu: ['>=1.8'] });
    const applying = executing(await steps.next({ runId, executed: planning }));
    expect(await steps.claim(applying, worker, 'none', [old, recent])).toMatchObject({ tool: old });
  });
});
