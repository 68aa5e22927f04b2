import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addEnvironment } from '#test/support/access/people.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';
import { unwatched } from '#test/support/status-changes.ts';

let at: RunStage;
beforeAll(async () => {
  at = await startRunStage();
});
afterAll(() => at?.close());

describe('a requeue', () => {
  it('a requeue of a run that has not ended answers 409', async () => {
    const gate = at.newGate();
    const running = await at.admit({ variables: { gate } });
    const pending = await at.admitPending({ required: 1 });
    for (const { id } of [running, pending]) {
      const answer = await at.requester.caller.post(`/runs/${id}/requeue`);
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^the run has not ended/)]);
    }
    await at.requester.caller.post(`/runs/${pending.id}/cancel`);
    at.openGate(gate);
    await at.awaitEnd(running.id);
  });

  it.each(['succeeded', 'failed', 'canceled'])(
    'a requeue of a run that has %s makes a new run with the same version and inputs',
    async (status) => {
      const run = await at.endAs(status);
      const key = { 'idempotency-key': randomUUID() };
      const answer = await at.reviewers[0]!.caller.post(`/runs/${run.id}/requeue`, undefined, key);
      expect(answer.status, answer.text).toBe(202);
      expect(answer.body).toMatchObject({
        requeued_from: run.id,
        idempotency_key: key['idempotency-key'],
        template_version: run.template_version,
        variables: run.variables,
        instance_id: run.instance_id,
        operation: run.operation,
        requested_by: { id: at.reviewers[0]!.id },
      });
      expect(answer.body.id).not.toBe(run.id);
      expect((await at.reviewers[0]!.caller.post(`/runs/${run.id}/requeue`, undefined, key)).body.id).toBe(
        answer.body.id,
      );
      if (status === 'canceled') await at.requester.caller.post(`/runs/${answer.body.id}/cancel`);
      await at.awaitEnd(answer.body.id);
      expect(await at.read(run.id)).toMatchObject({ status, revision: run.revision });
    },
  );

  it('gets the same secrets as its run, and does not show them', async () => {
    const first = await at.admit({ variables: { token: 'hunter2-hunter2' } });
    const { outputs } = await at.awaitEnd(first.id);
    const again = await at.requester.caller.post(`/runs/${first.id}/requeue`);
    expect(again.body.variables.token).toEqual({ sensitive: true });
    expect((await at.awaitEnd(again.body.id)).outputs).toEqual(outputs);
    expect(outputs.token_length.value).toBeGreaterThan(15);
  });

  it('a requeue in an environment that was archived meanwhile answers 409', async () => {
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId);
    const run = await at.admit({ environment_id: environmentId });
    await at.awaitEnd(run.id);
    const archiving = 'update environments set archived_at = now() where id = ?';
    await unwatched(at.orm, () => at.execute(archiving, environmentId));
    const answer = await at.requester.caller.post(`/runs/${run.id}/requeue`);
    expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^the environment is archived/)]);
  });

  it('follows the approval policy that another transaction commits while the requeue waits', async () => {
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId);
    const run = await at.admit({ environment_id: environmentId });
    await at.awaitEnd(run.id);
    const requeued = await at.orm.em.fork().transactional(async (tx) => {
      await tx.execute('update environments set approval_required = 2, approval_when = ? where id = ?', [
        'always',
        environmentId,
      ]);
      const waiting = at.requester.caller.post(`/runs/${run.id}/requeue`);
      await awaitLockWaits(at.orm);
      return { waiting };
    });
    const { status, body } = await requeued.waiting;
    expect([status, body.approval?.required]).toEqual([202, 2]);
    await at.awaitRun(body.id, 'pending_approval');
    await at.requester.caller.post(`/runs/${body.id}/cancel`);
    await at.awaitEnd(body.id);
  });
});

describe.each(['requeue', 'copy'])('a %s', (repetition) => {
  it('requires at least the approvals that its run required, even if the environment requires fewer now', async () => {
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId, { required: 1 });
    const run = await at.admit({ environment_id: environmentId });
    await at.requester.caller.post(`/runs/${run.id}/cancel`);
    await at.awaitEnd(run.id);
    const weaken = 'update environments set approval_required = 0, approval_when = ? where id = ?';
    await at.execute(weaken, 'never', environmentId);
    const { body, text } = await at.requester.caller.post(`/runs/${run.id}/${repetition}`);
    expect(body.approval, text).toMatchObject({ required: 1, when: run.approval.when });
    await at.requester.caller.post(`/runs/${body.id}/cancel`);
    await at.awaitEnd(body.id);
  });
});

describe('a deletion', () => {
  it('a deletion of a run that has not ended answers 409', async () => {
    const gate = at.newGate();
    const running = await at.admit({ variables: { gate } });
    const pending = await at.admitPending({ required: 1 });
    for (const { id } of [running, pending]) {
      const answer = await at.requester.caller.send('DELETE', `/runs/${id}`);
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringMatching(/^the run has not ended/)]);
    }
    await at.requester.caller.post(`/runs/${pending.id}/cancel`);
    at.openGate(gate);
    expect((await at.awaitEnd(running.id)).status).toBe('succeeded');
  });

  it('deletes the inputs, so that a requeue answers 409 with the reason that the run shows', async () => {
    const run = await at.endAs('failed');
    expect(await inputsOf(run.id)).toBeGreaterThan(0);
    expect((await at.requester.caller.send('DELETE', `/runs/${run.id}`)).status).toBe(204);
    expect(await inputsOf(run.id)).toBe(0);
    const { actions } = (await at.requester.caller.get(`/runs/${run.id}`)).body;
    const shown = actions.find(({ name }: { name: string }) => name === 'requeue');
    expect(shown).toMatchObject({ allowed: false, reason: expect.stringMatching(/^the run was deleted/) });
    const answer = await at.requester.caller.post(`/runs/${run.id}/requeue`);
    expect([answer.status, answer.body.error]).toEqual([409, shown.reason]);
  });

  it('a deletion of the run that deployed an instance keeps the inputs until another run has deployed it', async () => {
    const instance = `deployed-${randomUUID()}`;
    const deployed = await at.awaitEnd((await at.admit({ instance, variables: { token: 'removed' } })).id);
    expect(deployed.status).toBe('succeeded');
    expect((await at.requester.caller.send('DELETE', `/runs/${deployed.id}`)).status).toBe(204);
    expect(await inputsOf(deployed.id)).toBeGreaterThan(0);
    expect((await at.requester.caller.post(`/runs/${deployed.id}/requeue`)).status).toBe(409);
    expect((await at.awaitEnd((await at.admit({ instance })).id)).status).toBe('succeeded');
    expect(await inputsOf(deployed.id)).toBe(0);
  });

  it('removes the log and the plan, and keeps events, reviews, outputs and the audit', async () => {
    const key = randomUUID();
    const { environmentId } = await addEnvironment(at.orm, at.team.teamId, { required: 1 });
    const body = {
      template_id: at.templateId,
      environment_id: environmentId,
      instance: 'kept',
      variables: { token: 'secret-of-it' },
    };
    const admitted = await at.requester.caller.post('/runs', body, { 'idempotency-key': key });
    const pending = await at.awaitRun(admitted.body.id, 'pending_approval');
    await at.review(at.reviewers[0]!.caller, pending);
    const run = await at.awaitEnd(pending.id);
    expect(await rowsOf('run_log_chunks', run.id)).toBeGreaterThan(0);
    const removed = await at.requester.caller.send('DELETE', `/runs/${run.id}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    for (const table of ['run_log_chunks', 'run_plans']) expect(await rowsOf(table, run.id), table).toBe(0);
    const after = await at.read(run.id);
    expect(after).toMatchObject({
      status: 'succeeded',
      approval: run.approval,
      outputs: run.outputs,
      requested_by: run.requested_by,
    });
    expect(after.deleted_at).not.toBeNull();
    expect(await at.readEventTypes(run.id)).toEqual([...(await at.readEventTypes(run.id)).slice(0, -1), 'run.deleted']);
    expect((await at.requester.caller.get(`/runs?environment_id=${environmentId}`)).body.runs).toEqual([]);
    expect((await at.requester.caller.get(`/instances/${run.instance_id}/outputs`)).body.outputs).toEqual(run.outputs);
    expect((await at.requester.caller.send('DELETE', `/runs/${run.id}`)).status).toBe(404);
    const again = await at.requester.caller.post('/runs', body, { 'idempotency-key': key });
    expect([again.status, again.body.id]).toEqual([202, run.id]);
    expect(
      await at.execute('select 1 from audit_records where resource_id = ? and outcome = ?', run.id, 'committed'),
    ).toHaveLength(3);
  });

  const rowsOf = async (table: string, runId: string) =>
    (await at.execute(`select 1 from ${table} where run_id = ?`, runId)).length;
});

describe('after the tests of repetitions and deletions', () => {
  it('no run has a gap in its events, no instance is locked, and no message to the engine is left', async () => {
    await at.expectAllSettled();
  });
});

/** The size of what is kept of a run's inputs. */
async function inputsOf(runId: string): Promise<number> {
  const sized = 'select octet_length(sealed_inputs) as size from runs where id = ?';
  const [row] = await at.execute<{ size: number }>(sized, runId);
  return row?.size ?? -1;
}
