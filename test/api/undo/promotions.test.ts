import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
beforeAll(async () => {
  stage = await startUndoStage();
});
afterAll(() => stage?.api.close());

/** Three runs, of which the second changes `a`, and the third `b`. */
async function threeRuns(environment?: string) {
  const place = stage.place(environment);
  const first = await stage.deploy({ ...place, variables: { a: 1, b: 1 } });
  const second = await stage.deploy({ ...place, variables: { a: 2, b: 1 } });
  await stage.deploy({ ...place, variables: { a: 2, b: 3 } });
  return { place, first, second };
}

async function promotable(touches = ['thing.a']) {
  const runs = await threeRuns();
  const { id } = await stage.checked(runs.second);
  return { ...runs, attempt: await stage.checkCandidate(id, touches) };
}

describe('a candidate check', () => {
  test('lists the resources that the candidate touches and the run did not touch', async () => {
    const { attempt } = await promotable(['thing.a', 'thing.c', 'thing.b']);
    expect(attempt).toMatchObject({ state: 'promotable', candidate: { collateral: ['thing.b', 'thing.c'] } });
    const { body } = await stage.tenant.owner.get(`/selective-undo/${attempt.id}/candidate-checks`);
    const [check] = body.candidate_checks;
    expect(check).toMatchObject({ state: 'passed', collateral: ['thing.b', 'thing.c'], problem: null });
    const { body: run } = await stage.tenant.owner.get(`/runs/${check.run_id}`);
    expect(run).toMatchObject({ operation: 'plan', status: 'succeeded', variables: { a: 1, b: 3 }, undoes: null });
  });

  test('lists each resource whose address contains a secret, because its masked address is ambiguous', async () => {
    const keyed = 'thing.of["[redacted]"]';
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1, b: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 2, b: 1 } }, { touches: ['thing.a', keyed] });
    const { id } = await stage.checked(run);
    const attempt = await stage.checkCandidate(id, ['thing.a', keyed]);
    expect(attempt).toMatchObject({ state: 'promotable', candidate: { collateral: [keyed] } });
  });

  test('lists the outputs that the candidate changes and the run did not change', async () => {
    const { attempt } = await promotable(['thing.a', 'output.url']);
    expect(attempt).toMatchObject({ state: 'promotable', candidate: { collateral: ['output.url'] } });
    const unnamed = await stage.promote(attempt, undefined, { accepted_collateral: [] });
    expect([unnamed.status, unnamed.headers['x-error-code']]).toEqual([409, 'collateral_not_accepted']);
    expect((await stage.promote(attempt)).status).toBe(202);
  });

  test('that fails makes the attempt ready again with the reason, and can be repeated', async () => {
    const { second } = await threeRuns();
    const { id } = await stage.checked(second);
    await stage.tenant.owner.post(`/selective-undo/${id}/candidate-checks`);
    const again = await stage.tenant.owner.post(`/selective-undo/${id}/candidate-checks`);
    expect([again.status, again.headers['x-error-code']]).toEqual([409, 'undo_not_ready']);
    const { body } = await stage.tenant.owner.get(`/selective-undo/${id}/candidate-checks`);
    const run = body.candidate_checks[0].run_id;
    await stage.tenant.owner.post(`/runs/${run}/cancel`, { force: true });
    await stage.next(run);
    await stage.hear(run);
    expect(await stage.read(id)).toMatchObject({
      state: 'ready',
      problem: { code: 'plan_failed', run_id: run, message: expect.stringContaining('canceled') },
    });
    expect((await stage.checkCandidate(id, ['thing.a'])).state).toBe('promotable');
  });

  test('is refused as stale once another run has changed the instance', async () => {
    const { place, second } = await threeRuns();
    const { id } = await stage.checked(second);
    await stage.deploy({ ...place, variables: { a: 2, b: 4 } });
    const answer = await stage.tenant.owner.post(`/selective-undo/${id}/candidate-checks`);
    expect([answer.status, answer.headers['x-error-code']]).toEqual([409, 'stale']);
  });
});

describe('a promotion', () => {
  test('deploys the inputs without the change of the run, keeps later changes, and links both runs', async () => {
    const { place, second, attempt } = await promotable();
    const answer = await stage.promote(attempt);
    expect(answer.status, answer.text).toBe(202);
    expect(answer.body).toMatchObject({ operation: 'apply', undoes: second, message: expect.stringMatching(/^Undo /) });
    expect(await stage.read(attempt.id)).toMatchObject({ state: 'promoted', promoted_run_id: answer.body.id });
    await stage.apply(answer.body.id);
    await stage.hear(answer.body.id);
    expect((await stage.deployed(place)).variables).toEqual({ a: 1, b: 3 });
    expect((await stage.tenant.owner.get(`/runs/${second}`)).body.undone_by).toBe(answer.body.id);
  });

  test('a promotion that did not succeed does not mark the run as undone', async () => {
    const { second, attempt } = await promotable();
    const { body } = await stage.promote(attempt);
    await stage.apply(body.id, ['thing.a'], 'failed');
    await stage.hear(body.id);
    expect((await stage.tenant.owner.get(`/runs/${second}`)).body.undone_by).toBeNull();
  });

  test('can be undone, which restores exactly the previous inputs', async () => {
    const { place, second, attempt } = await promotable();
    const { body } = await stage.promote(attempt);
    await stage.apply(body.id);
    const redo = await stage.undo(body.id);
    await stage.apply(redo);
    await stage.hear(redo);
    expect((await stage.deployed(place)).variables).toEqual({ a: 2, b: 3 });
    expect((await stage.tenant.owner.get(`/runs/${body.id}`)).body.undone_by).toBe(redo);
    await stage.apply(await stage.undo(second));
    expect((await stage.deployed(place)).variables).toEqual({ a: 1, b: 3 });
  });

  test('leaves the run undone, so that it cannot be undone again until the undo is undone', async () => {
    const { second, attempt } = await promotable();
    const { body } = await stage.promote(attempt);
    await stage.apply(body.id);
    await stage.hear(body.id);
    const check = async () => (await stage.tenant.owner.get(`/runs/${second}/selective-undo`)).body.actions[0];
    const reason = `already undone by the run ${body.id}`;
    expect(await check()).toMatchObject({ name: 'check', allowed: false, reason });
    const key = { 'idempotency-key': crypto.randomUUID() };
    const refused = await stage.tenant.owner.post(`/runs/${second}/selective-undo/check`, undefined, key);
    expect([refused.status, refused.headers['x-error-code'], refused.body.error]).toEqual([
      409,
      'run_not_undoable',
      reason,
    ]);
    const redo = await stage.undo(body.id);
    await stage.apply(redo);
    await stage.hear(redo);
    expect(await check()).toMatchObject({ allowed: true, reason: null });
    const third = await stage.undo(redo);
    await stage.apply(third);
    await stage.hear(third);
    expect(await check()).toMatchObject({ allowed: false });
  });

  test('is named by a check of the undone run even if that run is not yet marked as undone', async () => {
    const { second, attempt } = await promotable();
    const { body } = await stage.promote(attempt);
    await stage.apply(body.id);
    const { verdicts } = await stage.check(second);
    expect(verdicts[0].cause.message).toBe(`the run ${body.id} has undone it already`);
  });

  test('is refused unless it names exactly the collateral and the digest of the candidate', async () => {
    const { attempt } = await promotable(['thing.a', 'thing.b', 'thing.c']);
    const refused = [
      await stage.promote(attempt, undefined, { accepted_collateral: ['thing.b'] }),
      await stage.promote(attempt, undefined, { accepted_collateral: ['thing.b', 'thing.c', 'thing.d'] }),
      await stage.promote(attempt, undefined, { candidate_digest: `hmac-sha256:${'0'.repeat(64)}` }),
    ];
    expect(refused.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
      [409, 'collateral_not_accepted'],
      [409, 'collateral_not_accepted'],
      [409, 'stale'],
    ]);
    expect(refused[0]?.body.error).toContain('it lacks thing.c');
    expect((await stage.promote(attempt, undefined, { accepted_collateral: ['thing.c', 'thing.b'] })).status).toBe(202);
  });

  test('requires a candidate check, and happens once even if two people promote at the same time', async () => {
    const { second } = await threeRuns();
    const ready = await stage.checked(second);
    const early = await stage.promote(ready);
    expect([early.status, early.headers['x-error-code']]).toEqual([409, 'undo_not_ready']);
    const attempt = await stage.checkCandidate(ready.id, ['thing.a']);
    const answers = await Promise.all([stage.promote(attempt), stage.promote(attempt)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  });

  test('a promotion of one of two attempts at the same run makes the other attempt stale once it has applied', async () => {
    const { second, attempt } = await promotable();
    const other = await stage.checkCandidate((await stage.checked(second)).id, ['thing.a']);
    const { body } = await stage.promote(attempt);
    const busy = await stage.promote(other);
    expect([busy.status, busy.headers['x-error-code']]).toEqual([409, 'instance_busy']);
    await stage.apply(body.id);
    const late = await stage.promote(other);
    expect([late.status, late.headers['x-error-code']]).toEqual([409, 'stale']);
  });

  test('ends its run as stale if the instance changes before the run starts, or while it waits for approval', async () => {
    for (const phase of ['queued', 'approval']) {
      const place = await placeWithApproval();
      const run = await stage.undo(place.second);
      if (phase === 'approval') expect(await stage.planOnly(run, ['thing.a'])).toMatchObject({ kind: 'wait' });
      await stage.api.rows('update instances set state_serial = state_serial + 1 where name = ?', [place.instance]);
      expect(await stage.next(run), phase).toEqual({ kind: 'end' });
      expect((await stage.tenant.owner.get(`/runs/${run}`)).body).toMatchObject({
        status: 'failed',
        status_reason: 'stale',
      });
      const { body: repeated } = await stage.tenant.owner.post(`/runs/${run}/requeue`);
      expect(await stage.next(repeated.id), 'repeating it is no way around that').toEqual({ kind: 'end' });
    }
  });

  test('may not be approved by the requesters of the undone run, of the undo or of the promotion', async () => {
    const { tenant } = stage;
    const people = await Promise.all(
      ['author', 'asker', 'reviewer'].map((name) => stage.api.addUser('operator', name)),
    );
    for (const person of people) await join(tenant, person, 'member', 'admin');
    const [author, asker, reviewer] = people as [typeof tenant.owner, typeof tenant.owner, typeof tenant.owner];
    const place = stage.place(await addEnvironment());
    await stage.deploy({ ...place, variables: { a: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 2 } }, { by: author });
    await requireOne(place.environment_id);
    const attempt = await stage.checkCandidate((await stage.checked(run, asker)).id, ['thing.a']);
    const { body: promoted } = await stage.promote(attempt);
    await stage.planOnly(promoted.id, ['thing.a']);
    const { body } = await tenant.owner.get(`/runs/${promoted.id}`);
    const review = { decision: 'approve', plan_digest: body.plan.digest, comment: '' };
    const codes = [];
    for (const person of [author, asker, tenant.owner, reviewer]) {
      const answer = await person.post(`/runs/${promoted.id}/approval/review`, review);
      codes.push([answer.status, answer.headers['x-error-code']]);
    }
    expect(codes).toEqual([
      [409, 'self_approval'],
      [409, 'self_approval'],
      [409, 'self_approval'],
      [200, undefined],
    ]);
  });

  test('answers 403 to members who may not change what the team owns', async () => {
    const { attempt } = await promotable();
    const member = await stage.api.addUser('operator');
    await join(stage.tenant, member, 'member', 'member');
    expect((await stage.promote(attempt, member)).status).toBe(403);
    expect((await member.get(`/selective-undo/${attempt.id}`)).body.actions[1]).toMatchObject({ allowed: false });
  });

  test('is refused once the environment is archived', async () => {
    const environment = await addEnvironment();
    const { second } = await threeRuns(environment);
    const attempt = await stage.checkCandidate((await stage.checked(second)).id, ['thing.a']);
    await stage.api.rows('update environments set archived_at = now() where id = ?', [environment]);
    const answer = await stage.promote(attempt);
    expect([answer.status, answer.headers['x-error-code']]).toEqual([409, 'archived']);
    expect(await stage.check(second)).toMatchObject({ state: 'blocked', problem: { code: 'archived' } });
  });
});

function requireOne(environment: string) {
  const policy = `approval_required = 1, approval_when = 'always', approval_allow_self = false`;
  return stage.api.rows(`update environments set ${policy} where id = ?`, [environment]);
}

async function addEnvironment(): Promise<string> {
  const made = await stage.tenant.owner.make('/environments', {
    project_id: stage.tenant.project,
    name: `Place ${randomUUID()}`,
    kind: 'development',
  });
  return made.id;
}

/** Two runs in an environment that demands approval from now on. */
async function placeWithApproval() {
  const place = stage.place(await addEnvironment());
  await stage.deploy({ ...place, variables: { a: 1 } });
  const second = await stage.deploy({ ...place, variables: { a: 2 } });
  await requireOne(place.environment_id);
  return { ...place, second };
}
