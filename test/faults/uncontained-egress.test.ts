import { beforeEach, describe, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { SandboxDemanded } from '#domain/runs/errors.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

/** A worker that does not contain template code cannot enforce the egress policy of a pool. */
const { api, admin, steps, readRun, readEvents } = await openRunStepsApi();
let pools = 0;
/** Each test has its own pool. */
let pool: string;
beforeEach(() => {
  pool = `reach-${++pools}`;
});

const limited = [
  { policy: 'none', allow: [] },
  { policy: 'allow', allow: ['registry.opentofu.org'] },
];
const internet = { policy: 'internet', allow: [] };

const setEgress = async (egress: object) => {
  const made = await admin.post('/worker-pools', { name: pool, egress });
  if (made.status === 201) return;
  const { status, text } = await admin.patch(`/worker-pools/${pool}`, { egress });
  expect(status, text).toBe(200);
};
const admit = () => steps.admit({}, { pool });
const logOf = async (id: string) => (await admin.get(`/runs/${id}/logs`)).body.entries;
const notice = () =>
  `this worker does not contain template code: it cannot enforce the egress policy of the pool "${pool}", and template code can reach whatever this machine can\n`;

describe.each(limited)('a pool with the egress policy $policy', (egress) => {
  it('dispatches no run to an uncontained worker, and one event of the run says why', async () => {
    await steps.worker('none', pool);
    await setEgress(egress);
    const runId = await admit();
    for (let looks = 0; looks < 2; looks += 1)
      expect(await steps.next({ runId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({ status: 'queued', waiting_on: { code: 'no_worker' } });
    expect(await readEvents(runId, 'run.not_contained')).toMatchObject([
      { data: { pool, message: expect.stringContaining('egress') } },
    ]);
  });

  it('dispatches its runs to a contained worker', async () => {
    await steps.worker('none', pool);
    const strong = await steps.worker('sandbox', pool);
    await setEgress(egress);
    const runId = await admit();
    const step = await steps.next({ runId });
    expect(step).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
    expect(await steps.claim(executing(step), strong, 'sandbox')).toMatchObject({ egress });
    expect(await logOf(runId)).toEqual([]);
  });

  it('does not give an uncontained worker an attempt that was dispatched before the policy was set', async () => {
    const weak = await steps.worker('none', pool);
    const attemptId = executing(await steps.next({ runId: await admit() }));
    await setEgress(egress);
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
  });

  it('does not give an uncontained worker the apply of a plan from before the policy was set', async () => {
    const weak = await steps.worker('none', pool);
    const { attemptId } = await steps.planned(weak, 'none', {}, { pool });
    await setEgress(egress);
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
  });

  it('dispatches runs to uncontained workers again once its policy is the default', async () => {
    await steps.worker('none', pool);
    await setEgress(egress);
    await setEgress(internet);
    expect(await steps.next({ runId: await admit() })).toMatchObject({ taskQueue: `uncontained-pool.${pool}` });
  });
});

describe('a run of a pool without its own egress policy, on an uncontained worker', () => {
  const begin = async () => {
    const weak = await steps.worker('none', pool);
    return { weak, ...(await steps.planning(weak, 'none', {}, { pool })) };
  };

  it('is executed, and its log starts with a line that says that the policy is not enforced', async () => {
    const { runId } = await begin();
    expect(await logOf(runId)).toMatchObject([
      { sequence: 1, phase: 'plan', stream: 'system', first_line: 0, lines: 1, text: notice() },
    ]);
  });

  it('is executed in the same way if the default policy is set explicitly', async () => {
    await setEgress(internet);
    const { runId } = await begin();
    expect(await logOf(runId)).toMatchObject([{ text: notice() }]);
  });

  it('has its output after that line, with consecutive numbers, and has the line only once', async () => {
    const { runId, attemptId, weak } = await begin();
    await appendLog(api.services.orm.em.fork(), attemptId, {
      sequence: 1,
      phase: 'plan',
      stream: 'stdout',
      time: new Date().toISOString(),
      content: Buffer.from('planned\n'),
      firstLine: 0,
      lines: 1,
      checksum: 'sha256:0',
    });
    await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
    const applying = executing(await steps.next({ runId, executed: attemptId }));
    await steps.claim(applying, weak, 'none');
    expect(await logOf(runId)).toMatchObject([
      { sequence: 1, first_line: 0, text: notice() },
      { sequence: 2, first_line: 1, text: 'planned\n' },
    ]);
  });

  it('has the line if only its apply is uncontained', async () => {
    const strong = await steps.worker('sandbox', pool);
    const { runId, attemptId } = await steps.planned(strong, 'sandbox', {}, { pool });
    expect(await logOf(runId)).toEqual([]);
    await steps.claim(attemptId, await steps.worker('none', pool), 'none');
    expect(await logOf(runId)).toMatchObject([{ sequence: 1, phase: 'apply', text: notice() }]);
  });
});
