import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());

/** Leads a run to its success, and returns the subscribers that get its end. */
async function subscribersOfEnd(request: object = {}): Promise<string[]> {
  const workerId = await steps.worker('none');
  const { runId, attemptId } = await steps.applying(workerId, 'none', request);
  await steps.complete(attemptId, { outcome: 'applied' });
  expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
  const rows = await api.services.orm.em.fork().execute<{ subscriber: string }[]>(
    `select o.subscriber from outbox o join domain_events e on e.id = (o.payload ->> 'event_id')::uuid
        where e.subject_id = ? and e.type = 'run.finished' order by o.subscriber`,
    [runId],
  );
  return rows.map(({ subscriber }) => subscriber);
}

describe('the end of a run', () => {
  it('reaches no subscriber if nobody reads outputs, watches for drift or undoes the run', async () => {
    expect(await subscribersOfEnd()).toEqual([]);
  });

  it('reaches the drift detection once there is a monitor', async () => {
    const templateId = await steps.publish({});
    const monitor = await admin.post('/drift-monitors', { template_id: templateId, schedule: { every: '1d' } });
    expect(monitor.status, monitor.text).toBe(201);
    expect(await subscribersOfEnd()).toEqual(['drift']);
  });
});
