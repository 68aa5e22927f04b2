import { describe, expect, it } from 'vitest';
import { readState } from '#domain/instances/state/state.ts';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { deregisterWorker } from '#domain/workers/store.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, steps, readRun, readEvents } = await openRunStepsApi();
const eventsOf = async (id: string) => (await readEvents(id)).map(({ type }) => type);

describe('a state that arrives after its attempt has ended', () => {
  /** A run whose apply was interrupted. */
  async function interruptedApply(templateId?: string): Promise<{ runId: string; attemptId: string }> {
    const workerId = await steps.worker('none');
    const begun = await steps.applying(workerId, 'none', templateId ? { template_id: templateId } : {});
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    expect(await steps.next({ runId: begun.runId, executed: begun.attemptId })).toEqual({ kind: 'end' });
    return begun;
  }
  const instanceOf = async (runId: string) => (await readRun(runId)).instance_id as string;
  const serialOf = async (runId: string) =>
    (
      await api.rows<{ state_serial: number }>(`select state_serial from instances where id = ?`, [
        await instanceOf(runId),
      ])
    )[0]?.state_serial;

  it('becomes the latest state of its instance, and the run reports it, while logs and results are refused', async () => {
    const { runId, attemptId } = await interruptedApply();
    expect(await steps.keep({ attemptId, content: Buffer.from('{"made":1}') })).toBe('late');
    expect(await readRun(runId)).toMatchObject({ status: 'failed', state_serial_after: 1 });
    expect(await eventsOf(runId)).toContain('run.state_recovered');
    const kept = await readState(api.services.orm.em.fork(), api.services.keyRing, await instanceOf(runId), 1);
    expect(String(kept)).toBe('{"made":1}');
    const content = Buffer.from('late\n');
    const chunk = { sequence: 1, phase: 'apply', stream: 'stdout', time: new Date().toISOString(), content } as const;
    const log = appendLog(api.services.orm.em.fork(), attemptId, { ...chunk, firstLine: 0, lines: 1, checksum: 'x' });
    await expect(log).rejects.toThrow(AttemptSuperseded);
    await expect(steps.complete(attemptId, { outcome: 'applied' })).rejects.toThrow(AttemptSuperseded);
  });

  it('is stored once even if it arrives repeatedly, in the order of its writes', async () => {
    const { runId, attemptId } = await interruptedApply();
    expect(await steps.keep({ attemptId, write: 1 })).toBe('late');
    expect(await steps.keep({ attemptId, write: 2 })).toBe('late');
    expect(await steps.keep({ attemptId, write: 2 })).toBe('kept');
    expect(await steps.keep({ attemptId, write: 1 })).toBe('kept');
    expect(await serialOf(runId)).toBe(2);
    expect((await eventsOf(runId)).filter((type: string) => type === 'run.state_recovered')).toHaveLength(2);
  });

  it('follows the states that its own attempt stored before, and never replaces a newer one', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    expect(await steps.keep({ attemptId, write: 3 })).toBe('kept');
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    await steps.next({ runId, executed: attemptId });
    expect(await steps.keep({ attemptId, write: 2 })).toBe('outdated');
    expect(await steps.keep({ attemptId, write: 4 })).toBe('late');
    expect(await serialOf(runId)).toBe(2);
  });

  it('is outdated if a later run has stored a state', async () => {
    const templateId = await steps.publish();
    const first = await interruptedApply(templateId);
    const second = await steps.applying(await steps.worker('none'), 'none', { template_id: templateId });
    expect(await steps.keep({ attemptId: second.attemptId })).toBe('kept');
    expect(await steps.keep({ attemptId: first.attemptId })).toBe('outdated');
    expect(await serialOf(first.runId)).toBe(1);
  });

  it('is set aside if its instance has been deleted', async () => {
    const { runId, attemptId } = await interruptedApply();
    await api.rows('update instances set deleted_at = now() where id = ?', [await instanceOf(runId)]);
    expect(await steps.keep({ attemptId })).toBe('outdated');
    expect(await serialOf(runId)).toBe(0);
  });

  it('invalidates a plan that was made without it', async () => {
    const templateId = await steps.publish({ approval: { required: 1, when: 'always' } });
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await interruptedApply(await steps.publish());
    const instance = (await readRun(runId)).instance_id;
    const later = await steps.admit({ template_id: templateId });
    await api.rows(`update runs set instance_id = ? where id = ?`, [instance, later]);
    const planning = executing(await steps.next({ runId: later }));
    await steps.claim(planning, workerId, 'none');
    await steps.complete(planning, { outcome: 'planned', plan: aPlan() });
    expect(await steps.next({ runId: later, executed: planning })).toMatchObject({ kind: 'wait' });
    expect(await steps.keep({ attemptId })).toBe('late');
    await api.rows(`update runs set approval_required = 0 where id = ?`, [later]);
    expect(await steps.next({ runId: later, executed: planning })).toEqual({ kind: 'end' });
    expect(await readRun(later)).toMatchObject({ status: 'failed', status_reason: 'plan_moved' });
  });

  it('a state of an apply that is repeated counts only until the repetition stores a state', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none', {
      template_id: await steps.publish({ retry_safe: true }),
    });
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    const again = executing(await steps.next({ runId, executed: attemptId }));
    await steps.claim(again, await steps.worker('none'), 'none');
    expect(await steps.keep({ attemptId, write: 1 })).toBe('late');
    expect(await steps.keep({ attemptId: again, write: 1 })).toBe('kept');
    expect(await steps.keep({ attemptId, write: 2 })).toBe('outdated');
  });
});
