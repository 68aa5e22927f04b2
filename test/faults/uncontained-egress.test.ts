import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { SandboxDemanded } from '#domain/runs/errors.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/run-steps.ts';

/** A worker that does not contain template code cannot enforce what a pool may reach. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let pools = 0;
/** A pool of its own for each test. */
let pool: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());
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
const readRun = async (id: string) => (await admin.get(`/runs/${id}`)).body;
const logOf = async (id: string) => (await admin.get(`/runs/${id}/logs`)).body.entries;
const notice = () =>
  `this worker does not contain template code: it cannot enforce the egress policy of the pool "${pool}", and template code can reach whatever this machine can\n`;

describe.each(limited)('a pool with the egress policy $policy', (egress) => {
  it('gives its runs to no uncontained worker, and the story of a run says why, once', async () => {
    await steps.worker('none', pool);
    await setEgress(egress);
    const runId = await admit();
    for (let looks = 0; looks < 2; looks += 1)
      expect(await steps.next({ runId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({ status: 'queued', waiting_on: { code: 'no_worker' } });
    const { events } = (await admin.get(`/runs/${runId}/events`)).body;
    const told = events.filter(({ type }: { type: string }) => type === 'run.not_contained');
    expect(told).toMatchObject([{ data: { pool, message: expect.stringContaining('egress') } }]);
  });

  it('gives its runs to a contained worker', async () => {
    await steps.worker('none', pool);
    const strong = await steps.worker('sandbox', pool);
    await setEgress(egress);
    const runId = await admit();
    const step = await steps.next({ runId });
    expect(step).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
    expect(await steps.claim(executing(step), strong, 'sandbox')).toMatchObject({ egress });
    expect(await logOf(runId)).toEqual([]);
  });

  it('refuses an uncontained worker an attempt that was dispatched before the policy was set', async () => {
    const weak = await steps.worker('none', pool);
    const attemptId = executing(await steps.next({ runId: await admit() }));
    await setEgress(egress);
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
  });

  it('refuses an uncontained worker the apply of what it planned before the policy was set', async () => {
    const weak = await steps.worker('none', pool);
    const { attemptId } = await steps.planned(weak, 'none', {}, { pool });
    await setEgress(egress);
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
  });

  it('is no demand any more once its policy is the default again', async () => {
    await steps.worker('none', pool);
    await setEgress(egress);
    await setEgress(internet);
    expect(await steps.next({ runId: await admit() })).toMatchObject({ taskQueue: `uncontained-pool.${pool}` });
  });
});

describe('a run of a pool without an egress policy of its own, on an uncontained worker', () => {
  const begin = async () => {
    const weak = await steps.worker('none', pool);
    return { weak, ...(await steps.planning(weak, 'none', {}, { pool })) };
  };

  it('goes on, and its log begins with one line that says what is not enforced', async () => {
    const { runId } = await begin();
    expect(await logOf(runId)).toMatchObject([
      { sequence: 1, phase: 'plan', stream: 'system', first_line: 0, lines: 1, text: notice() },
    ]);
  });

  it('goes on likewise where the default was set by name', async () => {
    await setEgress(internet);
    const { runId } = await begin();
    expect(await logOf(runId)).toMatchObject([{ text: notice() }]);
  });

  it('has what it prints behind that line, numbered without a gap, and the line once', async () => {
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

  it('has the line where only its apply is not contained', async () => {
    const strong = await steps.worker('sandbox', pool);
    const { runId, attemptId } = await steps.planned(strong, 'sandbox', {}, { pool });
    expect(await logOf(runId)).toEqual([]);
    await steps.claim(attemptId, await steps.worker('none', pool), 'none');
    expect(await logOf(runId)).toMatchObject([{ sequence: 1, phase: 'apply', text: notice() }]);
  });
});
