import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Caller } from '#test/support/api/caller.ts';
import {
  type AssemblyStage,
  addAssembly,
  addTemplate,
  awaitAssemblyRun,
  awaitNode,
  echo,
  openAssemblyStage,
  readNodes,
  readStory,
  startRun,
} from '#test/support/assembly-stage.ts';

const password = 'correct horse battery';

let stage: AssemblyStage;
beforeAll(async () => {
  stage = await openAssemblyStage({ WORKER_CONCURRENCY: '4' });
  await addTemplate(stage, 'echo', echo());
});
afterAll(async () => {
  await stage?.system.close();
});

/** A user with a platform role and a role in the stage's team. */
async function addUser(name: string, role: string, teamRole: string | null): Promise<Caller & { id: string }> {
  const { caller, organization, team, system } = stage;
  const email = `${name}-${randomUUID()}@example.com`;
  const { body: user } = await caller.post('/users', { email, name, password, role });
  await caller.send('PUT', `${organization}/members/${user.id}`, { role: 'member' });
  if (teamRole) {
    const added = await caller.send('PUT', `${team}/members/${user.id}`, { role: teamRole });
    expect(added.status, added.text).toBeLessThan(300);
  }
  return Object.assign(await Caller.signIn(system.url, email, password), { id: user.id });
}

async function leave(user: { id: string }): Promise<void> {
  expect((await stage.caller.send('DELETE', `${stage.team}/members/${user.id}`)).status).toBe(204);
}

const approve = (plan_digest: string) => ({ decision: 'approve', plan_digest });

/** A run of an assembly of one reviewed node, started by a caller, once the node waits for approval. */
async function startReviewed(caller: Caller, approval: object = { required: 1 }, publisher = stage.caller) {
  const first = { template: 'echo', instance: `i-${randomUUID()}`, approval };
  const second = { template: 'echo', instance: `i-${randomUUID()}`, depends_on: ['first'] };
  const nodes = { first, second };
  const assembly = await addAssembly({ ...stage, caller: publisher }, `Reviewed ${randomUUID()}`, { nodes });
  const { path } = await startRun({ ...stage, caller }, assembly);
  const node = await awaitNode(stage.caller, path, 'first', ['pending_approval']);
  return { assembly, path, node, digest: node.plan.digest as string };
}

describe('a node that waits for approval', () => {
  it('a node that waits for approval says so, and continues once somebody else approves it', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { path, node, digest } = await startReviewed(starter);
    expect(node).toMatchObject({ waiting_on: { code: 'approval' }, attempts: 1 });
    expect((await awaitAssemblyRun(stage.caller, path, ['pending_approval'])).status).toBe('pending_approval');
    const second = (await readNodes(stage.caller, path))['second'];
    expect(second).toMatchObject({ status: 'pending', waiting_on: { code: 'dependencies', nodes: ['first'] } });
    const own = await starter.post(`${path}/nodes/first/approve`, approve(digest));
    expect([own.status, own.headers.get('x-error-code')]).toEqual([409, 'self_approval']);
    expect((await starter.get(`${path}/nodes/first`)).body.actions).toEqual([
      { name: 'approve', allowed: false, reason: own.body.error },
      { name: 'reject', allowed: true, reason: null },
    ]);
    const wrong = await stage.caller.post(`${path}/nodes/first/approve`, approve(`sha256:${'0'.repeat(64)}`));
    expect([wrong.status, wrong.headers.get('x-error-code')]).toEqual([409, 'plan_moved']);
    const reviewer = await addUser('reviewer', 'maintainer', 'admin');
    const permitted = ['approve', 'reject'].map((name) => ({ name, allowed: true, reason: null }));
    expect((await reviewer.get(`${path}/nodes/first`)).body.actions).toEqual(permitted);
    const done = await reviewer.post(`${path}/nodes/first/approve`, approve(digest));
    expect(done.status, done.text).toBe(200);
    expect((await awaitAssemblyRun(stage.caller, path)).status).toBe('succeeded');
    const story = (await readStory(stage.caller, path)).filter((event) => event.endsWith(' first'));
    expect(story).toEqual(
      ['node_started', 'node_approval_required', 'node_approved', 'node_ended'].map((event) => `${event} first`),
    );
    const late = await stage.caller.post(`${path}/nodes/first/approve`, approve(digest));
    expect([late.status, late.headers.get('x-error-code')]).toEqual([409, 'run_not_pending_approval']);
    const { actions } = (await stage.caller.get(`${path}/nodes/first`)).body;
    expect(actions).toMatchObject(['approve', 'reject'].map((name) => ({ name, reason: late.body.error })));
  });

  it('a node is rejected only with a comment', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { path, digest } = await startReviewed(starter);
    const reject = (comment?: string) =>
      stage.caller.post(`${path}/nodes/first/approve`, { decision: 'reject', plan_digest: digest, comment });
    for (const comment of [undefined, ' ']) {
      const refused = await reject(comment);
      expect([refused.status, refused.body.error]).toEqual([
        400,
        'field "comment": say what the requester should change: a rejection needs it',
      ]);
    }
    expect((await reject('smaller, please')).status).toBe(200);
    expect((await awaitAssemblyRun(stage.caller, path)).status).toBe('canceled');
  });

  it('two reviews race for the last approval of a node: one is accepted, and the other refused', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { path, node, digest } = await startReviewed(starter);
    const reviewers = await Promise.all(['one', 'two'].map((name) => addUser(name, 'maintainer', 'admin')));
    const [one, two] = reviewers;
    const answers = await Promise.all([
      one?.post(`${path}/nodes/first/approve`, approve(digest)),
      two?.post(`/runs/${node.run_id}/approval/review`, approve(digest)),
    ]);
    expect(answers.map((answer) => answer?.status).sort()).toEqual([200, 409]);
  });

  it("a node cannot be approved by the publisher of the assembly's version, nor by a user who resumed the run", async () => {
    const [starter, resumer, reviewer, publisher] = await Promise.all(
      ['starter', 'resumer', 'reviewer', 'publisher'].map((name) => addUser(name, 'maintainer', 'admin')),
    );
    if (!starter || !resumer || !reviewer || !publisher) throw new Error('the users are missing');
    const { path, digest } = await startReviewed(starter, { required: 1 }, publisher);
    const published = await publisher.post(`${path}/nodes/first/approve`, approve(digest));
    expect(published.body.error).toContain('you published the version of the assembly');
    await starter.post(`${path}/cancel`);
    await awaitAssemblyRun(stage.caller, path);
    expect((await resumer.post(`${path}/resume`)).status).toBe(202);
    const again = await awaitNode(stage.caller, path, 'first', ['pending_approval']);
    for (const author of [starter, resumer]) {
      const own = await author.post(`${path}/nodes/first/approve`, approve(again.plan.digest));
      expect(own.headers.get('x-error-code'), own.text).toBe('self_approval');
    }
    const other = await reviewer.post(`${path}/nodes/first/approve`, approve(again.plan.digest));
    expect(other.status, other.text).toBe(200);
  });

  it('the approval policy of a node can only be stricter than that of the environment', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { node } = await startReviewed(starter, { required: 1, allow_self: true });
    const run = (await stage.caller.get(`/runs/${node.run_id}`)).body;
    expect(run.approval).toMatchObject({ required: 1, allow_self: false });
  });
});

describe('repeating the run of a node', () => {
  it.each(['requeue', 'copy'])(
    'repeating the run of a node by %s requires the approval that the node required',
    async (repetition) => {
      const starter = await addUser('starter', 'maintainer', 'admin');
      const requester = await addUser('requester', 'requester', 'member');
      const { path, node } = await startReviewed(starter);
      await starter.post(`${path}/cancel`);
      await awaitAssemblyRun(stage.caller, path);
      const repeated = await requester.post(`/runs/${node.run_id}/${repetition}`);
      expect(repeated.body.approval, repeated.text).toMatchObject({ required: 1, when: 'always', allow_self: false });
      await stage.caller.awaitRun(repeated.body.id, ['pending_approval']);
      await starter.post(`/runs/${repeated.body.id}/cancel`);
    },
  );
});

describe('the authority of an assembly run', () => {
  it('a node has the present authority of the user who started the assembly run, which somebody else can resume', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { path, digest } = await startReviewed(starter);
    await leave(starter);
    const reviewer = await addUser('reviewer', 'maintainer', 'admin');
    await reviewer.post(`${path}/nodes/first/approve`, approve(digest));
    expect((await awaitAssemblyRun(stage.caller, path)).nodes).toEqual({ first: 'succeeded', second: 'failed' });
    const { second } = await readNodes(stage.caller, path);
    expect(second.reason).toMatchObject({ code: 'not_permitted' });
    expect((await reviewer.post(`${path}/resume`)).status).toBe(202);
    expect((await awaitAssemblyRun(stage.caller, path)).status).toBe('succeeded');
    const { second: resumed } = await readNodes(stage.caller, path);
    expect((await stage.caller.get(`/runs/${resumed.run_id}`)).body.requested_by.id).toBe(reviewer.id);
  });

  it('an assembly and its runs are hidden from other teams, and from members who may not run it', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { assembly, path, digest } = await startReviewed(starter);
    const stranger = await addUser('stranger', 'maintainer', null);
    const viewer = await addUser('viewer', 'maintainer', 'viewer');
    const body = { environment_id: stage.environmentId };
    for (const [method, at, sent] of [
      ['GET', path, undefined],
      ['GET', `${path}/nodes`, undefined],
      ['GET', `${path}/events`, undefined],
      ['POST', `${assembly}/runs`, body],
      ['POST', `${path}/cancel`, {}],
      ['POST', `${path}/resume`, {}],
      ['POST', `${path}/nodes/first/approve`, approve(digest)],
    ] as const) {
      const hidden = await stranger.send(method, at, sent);
      expect([at, hidden.status, hidden.headers.get('x-error-code')]).toEqual([at, 404, 'not_found']);
      if (method === 'GET') expect((await viewer.send(method, at, sent)).status).toBe(200);
      else expect([at, (await viewer.send(method, at, sent)).status]).toEqual([at, 403]);
    }
  });

  it('a start that is sent fifty times with one key starts one assembly run', async () => {
    const assembly = await addAssembly(stage, 'Once', { nodes: { only: { template: 'echo', instance: 'once' } } });
    const key = randomUUID();
    const body = { environment_id: stage.environmentId };
    const send = () => stage.caller.post(`${assembly}/runs`, body, { 'idempotency-key': key });
    const answers = await Promise.all(Array.from({ length: 50 }, send));
    expect(new Set(answers.map(({ status, body: run }) => `${status} ${run.id}`)).size).toBe(1);
    expect((await stage.caller.get(`${assembly}/runs`)).body.assembly_runs).toHaveLength(1);
    const other = await stage.caller.post(`${assembly}/runs`, { ...body, message: 'x' }, { 'idempotency-key': key });
    expect(other.status).toBe(409);
  });

  it('an assembly cannot be deleted while it runs, and environments of other teams answer like missing ones', async () => {
    const starter = await addUser('starter', 'maintainer', 'admin');
    const { assembly } = await startReviewed(starter);
    const refused = await stage.caller.send('DELETE', assembly);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([409, 'in_use']);
    const elsewhere = await stage.caller.post(`${assembly}/runs`, { environment_id: randomUUID() });
    expect([elsewhere.status, elsewhere.headers.get('x-error-code')]).toEqual([422, 'environment_unknown']);
  });
});

it('a run that repeats the run of a node needs the permission to approve assemblies, and says why', async () => {
  const starter = await addUser('starter', 'maintainer', 'admin');
  const { path, node } = await startReviewed(starter);
  const needs = [{ permission: 'assembly:approve', because: expect.stringContaining('it runs a node of an assembly') }];
  expect((await stage.caller.get(`/runs/${node.run_id}`)).body.approval.needs).toEqual(needs);
  await starter.post(`${path}/cancel`);
  await awaitAssemblyRun(stage.caller, path);
  const repeated = await starter.post(`/runs/${node.run_id}/requeue`);
  expect(repeated.body.approval.needs, repeated.text).toEqual(needs);
});
