import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServiceAccount, type Person } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';

let at: RunStage;
beforeAll(async () => {
  at = await startRunStage();
});
afterAll(() => at?.close());

describe('a review', () => {
  it('a review by as many people as are required lets the run continue; each counts once', async () => {
    const run = await at.admitPending({ required: 2 });
    expect(run).toMatchObject({
      phase: 'approval',
      waiting_on: { code: 'approval' },
      approval: { required: 2, reviews: [] },
    });
    const [one, two, three] = at.reviewers as [Person, Person, Person];
    const first = await at.review(one.caller, run);
    expect(first.body, first.text).toMatchObject({
      status: 'pending_approval',
      approval: { reviews: [{ by: { id: one.id } }] },
    });
    const twice = await at.review(one.caller, run);
    expect([twice.status, twice.body.error]).toEqual([409, expect.stringMatching(/^you have already decided/)]);
    expect((await at.review(one.caller, run, 'reject')).status).toBe(409);
    expect((await at.read(run.id)).status).toBe('pending_approval');
    expect((await at.review(two.caller, run)).status).toBe(200);
    const done = await at.awaitEnd(run.id);
    expect(done).toMatchObject({
      status: 'succeeded',
      approval: { reviews: [{ by: { id: one.id } }, { by: { id: two.id } }] },
    });
    const late = await at.review(three.caller, run);
    expect([late.status, late.body.error]).toEqual([409, expect.stringMatching(/its status is succeeded$/)]);
  });

  it('a review of any other plan than the waiting one is refused', async () => {
    const run = await at.admitPending({ required: 1 });
    const { caller } = at.reviewers[0]!;
    const moved = await at.review(caller, run, 'approve', `sha256:${'0'.repeat(64)}`);
    expect([moved.status, moved.body.error]).toEqual([409, expect.stringContaining('read the plan again')]);
    expect(moved.body.error).not.toContain(run.plan.digest);
    expect((await at.review(caller, run, 'reject', `sha256:${'0'.repeat(64)}`)).status).toBe(409);
    for (const digest of [
      '',
      'latest',
      run.plan.digest.toUpperCase(),
      run.plan.digest.slice(0, -1),
      `${run.plan.digest}0`,
    ])
      expect((await at.review(caller, run, 'approve', digest)).status, digest).toBe(400);
    const other = await at.admitPending({ required: 1 });
    expect((await at.review(caller, run, 'approve', other.plan.digest)).status).toBe(409);
    expect((await at.read(run.id)).approval.reviews).toEqual([]);
    for (const { id } of [run, other]) await at.requester.caller.post(`/runs/${id}/cancel`);
  });

  it('a review of one’s own run is refused with any credential', async () => {
    const session = await Caller.signIn(at.system.url, at.requester.email, 'correct horse battery');
    const byKey = await at.admitPending({ required: 1 });
    const bySession = await at.admitPending({ required: 1 }, session);
    for (const [run, caller] of [
      [byKey, session],
      [byKey, at.requester.caller],
      [bySession, at.requester.caller],
    ] as const) {
      const answer = await at.review(caller, run);
      expect([answer.status, answer.body.error]).toEqual([
        409,
        expect.stringMatching(/^another person must approve this run/),
      ]);
    }
    expect((await at.review(session, byKey, 'reject')).body).toMatchObject({
      status: 'canceled',
      status_reason: 'rejected',
    });
    expect((await at.review(at.reviewers[0]!.caller, bySession)).status).toBe(200);
    expect((await at.awaitEnd(bySession.id)).status).toBe('succeeded');
  });

  it('a review of one’s own run counts once if the environment allows it', async () => {
    const run = await at.admitPending({ required: 2, allowSelf: true });
    expect((await at.review(at.requester.caller, run)).status).toBe(200);
    expect((await at.review(at.requester.caller, run)).status).toBe(409);
    expect((await at.read(run.id)).status).toBe('pending_approval');
    expect((await at.review(at.reviewers[0]!.caller, run)).status).toBe(200);
    expect((await at.awaitEnd(run.id)).status).toBe('succeeded');
  });

  it('a review by the requesting account or its responsible person is refused, even after another person becomes responsible', async () => {
    const [, issuer, other] = at.reviewers as [Person, Person, Person];
    const account = await addServiceAccount(at.api, 'maintainer', {}, { teamId: at.team.teamId });
    const issuedBy = (person: Person) =>
      at.api.orm.em.fork().execute('update api_keys set issued_by = ? where principal_id = ?', [person.id, account.id]);
    await issuedBy(issuer);
    const run = await at.admitPending({ required: 1 }, account.caller);
    expect(run.responsible_user_id).toBe(issuer.id);
    expect((await at.review(issuer.caller, run)).status).toBe(409);
    expect((await at.review(account.caller, run)).status).toBe(409);
    await issuedBy(other);
    expect((await at.review(account.caller, run)).status).toBe(409);
    expect((await at.review(at.reviewers[0]!.caller, run)).status).toBe(200);
    expect((await at.awaitEnd(run.id)).status).toBe('succeeded');
  });

  it('a review by the requesters of the runs that were requeued is refused', async () => {
    const original = await at.admitPending({ required: 1 });
    await at.review(at.reviewers[0]!.caller, original, 'reject');
    const [, second, third] = at.reviewers as [Person, Person, Person];
    const again = await second.caller.post(`/runs/${original.id}/requeue`);
    await at.awaitRun(again.body.id, 'pending_approval');
    await second.caller.post(`/runs/${again.body.id}/cancel`);
    await at.awaitEnd(again.body.id);
    const requeued = await third.caller.post(`/runs/${again.body.id}/requeue`);
    const run = await at.awaitRun(requeued.body.id, 'pending_approval');
    for (const person of [at.requester, second, third]) {
      const answer = await at.review(person.caller, run);
      expect([answer.status, answer.body.error]).toEqual([
        409,
        expect.stringMatching(/^another person must approve this run/),
      ]);
    }
    expect((await at.review(at.reviewers[0]!.caller, run)).status).toBe(200);
    expect((await at.awaitEnd(run.id)).status).toBe('succeeded');
  });

  it('a review that rejects ends the run and frees the instance, despite earlier approvals', async () => {
    const run = await at.admitPending({ required: 2 });
    await at.review(at.reviewers[0]!.caller, run);
    const rejected = await at.review(at.reviewers[1]!.caller, run, 'reject');
    expect(rejected.body).toMatchObject({ status: 'canceled', status_reason: 'rejected', waiting_on: null });
    expect(await at.execute('select 1 from instance_slots where run_id = ?', run.id)).toEqual([]);
    expect((await at.review(at.reviewers[2]!.caller, run)).status).toBe(409);
    expect(await at.readEventTypes(run.id)).not.toContain('run.applying');
  });

  it('a review after the approval has expired is refused', async () => {
    const run = await at.admitPending({ required: 1 });
    await at.system.stopWorker(); // A worker would end the run when its approval expires.
    await at.execute(`update runs set approval_expires_at = now() - interval '1 second' where id = ?`, run.id);
    for (const decision of ['approve', 'reject']) {
      const answer = await at.review(at.reviewers[0]!.caller, run, decision);
      expect([answer.status, answer.body.error]).toEqual([
        409,
        'the time for approval is over: requeue the run once it has ended',
      ]);
    }
    expect((await at.read(run.id)).approval.reviews).toEqual([]);
    await at.requester.caller.post(`/runs/${run.id}/cancel`);
    await at.system.startWorker();
    expect((await at.awaitEnd(run.id)).status).toBe('canceled');
  });

  it('answers 400 to a rejection without a comment, and decides nothing', async () => {
    const run = await at.admitPending({ required: 2 });
    for (const comment of [undefined, ' ']) {
      const body = { decision: 'reject', plan_digest: run.plan.digest, comment };
      const answer = await at.reviewers[0]!.caller.post(`/runs/${run.id}/approval/review`, body);
      expect([answer.status, answer.body.error]).toEqual([
        400,
        'field "comment": say what the requester should change: a rejection needs it',
      ]);
    }
    expect((await at.read(run.id)).approval.reviews).toEqual([]);
    await at.requester.caller.post(`/runs/${run.id}/cancel`);
  });

  it('counts once for one idempotency key, which cannot be used for another decision', async () => {
    const run = await at.admitPending({ required: 2 });
    const path = `/runs/${run.id}/approval/review`;
    const body = { decision: 'approve', plan_digest: run.plan.digest };
    const key = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => at.reviewers[0]!.caller.post(path, body, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await at.reviewers[0]!.caller.post(path, { ...body, decision: 'reject', comment: 'no' }, key)).status).toBe(
      409,
    );
    expect((await at.read(run.id)).approval.reviews).toHaveLength(1);
    await at.requester.caller.post(`/runs/${run.id}/cancel`);
  });

  it('a review by many people at once applies the plan once', async () => {
    const run = await at.admitPending({ required: 1 });
    const answers = await Promise.all(at.reviewers.map(({ caller }) => at.review(caller, run)));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect((await at.awaitEnd(run.id)).status).toBe('succeeded');
    expect((await at.readEventTypes(run.id)).filter((type) => type === 'run.applying')).toHaveLength(1);
  });

  it('a review at the same time as a cancellation leaves the run either applied or canceled', async () => {
    for (let round = 0; round < 3; round += 1) {
      const run = await at.admitPending({ required: 1 });
      const [reviewed, canceled] = await Promise.all([
        at.review(at.reviewers[0]!.caller, run),
        at.requester.caller.post(`/runs/${run.id}/cancel`),
      ]);
      expect([200, 409]).toContain(reviewed?.status);
      const end = await at.awaitEnd(run.id);
      // An apply that ends before its worker hears of the cancellation has succeeded.
      const possible = reviewed?.status === 409 ? ['canceled'] : ['canceled', 'succeeded'];
      expect(canceled?.status === 202 ? possible : ['succeeded']).toContain(end.status);
      expect(await at.execute('select 1 from instance_slots where run_id = ?', run.id)).toEqual([]);
    }
  });

  it('can be requested, which does not change the run', async () => {
    const run = await at.admitPending({ required: 1 });
    const asked = await at.requester.caller.post(`/runs/${run.id}/approval/request`, {
      reviewers: [at.reviewers[0]!.id],
      message: 'please',
    });
    expect([asked.status, asked.body.status]).toEqual([202, 'pending_approval']);
    expect(await at.readEventTypes(run.id)).toContain('run.approval_requested');
    await at.requester.caller.post(`/runs/${run.id}/cancel`);
    await at.awaitEnd(run.id);
    expect((await at.requester.caller.post(`/runs/${run.id}/approval/request`, {})).status).toBe(409);
  });
});

describe('after the tests of reviews', () => {
  it('no run has a gap in its events, no instance is locked, and no message to the engine is left', async () => {
    await at.expectAllSettled();
  });
});
