import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, admit } from '#test/support/assemblies/assemblies.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { NotifiedTeam, titlesOf } from '#test/support/notifications/notified-team.ts';

let api: TestApi;
let tenant: Tenant;
let team: NotifiedTeam;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  team = await NotifiedTeam.start(api);
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());
beforeEach(() => team.forget());

interface StartedRun {
  readonly id: string;
  readonly path: string;
  /** The runs of its nodes. */
  readonly runs: readonly string[];
}

/** Starts a run of an assembly with this number of nodes, each with a run. */
async function start(user: ApiUser, count: number): Promise<StartedRun> {
  const { slug } = await addTemplate(tenant.owner, { team: tenant.team });
  const keys = Array.from({ length: count }, (_, index) => `node-${index}`);
  const nodes = Object.fromEntries(keys.map((key) => [key, { template: slug, instance: `i-${randomUUID()}` }]));
  const assembly = await addAssembly(tenant, { nodes });
  expect((await tenant.owner.post(`${assembly}/publish`, { version: '1.0.0' })).status).toBe(201);
  const { status, body, text } = await user.post(`${assembly}/runs`, { environment_id: tenant.environment });
  expect(status, text).toBe(202);
  const admitted = await api.rows<{ id: string }>('select id from assembly_nodes where assembly_run_id = ?', [body.id]);
  for (const { id } of admitted) await admit(api, id);
  const runs = await api.rows<{ id: string }>('select id from runs where assembly_run_id = ?', [body.id]);
  return { id: body.id, path: `${assembly}/runs/${body.id}`, runs: runs.map(({ id }) => id) };
}

/** Ends the runs of the nodes, and then the assembly run, and publishes the events. */
async function end(
  { id, runs }: StartedRun,
  status: 'succeeded' | 'failed' | 'canceled',
  message: string | null = null,
  reason: string | null = null,
) {
  const owners = { teamId: tenant.team };
  for (const subjectId of runs)
    await team.publish({ type: 'run.finished', subjectId, owners, data: { status, reason: null } });
  const detail = message === null ? null : JSON.stringify({ message, source: 'service' });
  await api.rows('update assembly_runs set status = ?, status_detail = ?, finished_at = now() where id = ?', [
    status,
    detail,
    id,
  ]);
  await team.publish({ type: 'assembly_run.finished', subjectId: id, owners, data: { status, reason } });
}

async function reject(runId: string | undefined, reviewer: string, comment: string): Promise<void> {
  await api.rows(
    `insert into run_reviews (id, run_id, decision, comment, reviewer_id, responsible_user_id, reviewer_name, reviewer_type, plan_digest, created_at)
     values (?, ?, 'reject', ?, gen_random_uuid(), gen_random_uuid(), ?, 'user', '-', now())`,
    [newId(), runId, comment, reviewer],
  );
}

/** Resumes the run by the API and admits new runs of its nodes. */
async function resume({ id, path, runs: former }: StartedRun): Promise<StartedRun> {
  await api.rows(`update assembly_nodes set status = 'canceled' where assembly_run_id = ?`, [id]);
  const { status, text } = await tenant.owner.post(`${path}/resume`, {});
  expect(status, text).toBe(202);
  const nodes = await api.rows<{ id: string }>('select id from assembly_nodes where assembly_run_id = ?', [id]);
  for (const node of nodes) await admit(api, node.id);
  const all = await api.rows<{ id: string }>('select id from runs where assembly_run_id = ? order by id', [id]);
  const runs = all.map((run) => run.id).filter((run) => !former.includes(run));
  expect(runs).toHaveLength(former.length);
  return { id, path, runs };
}

async function subscribeToMail(): Promise<void> {
  const preferences = [{ kind: 'run.finished', page: true, email: true }];
  await tenant.owner.put('/notifications/preferences', { preferences });
}

/** The facts of each mail about an assembly run, in the order in which they were written. */
async function mailedFacts({ id }: StartedRun): Promise<string[][]> {
  const mails = await api.rows<{ content: { facts: string[] } }>(
    `select content from outgoing_messages where medium = 'email' and subject_id = ? order by id`,
    [id],
  );
  return mails.map(({ content }) => content.facts);
}

describe('an assembly run of ten nodes', () => {
  it('creates one notification of its success for its requester, with a link to its page', async () => {
    const run = await start(tenant.owner, 10);
    expect(run.runs).toHaveLength(10);
    await end(run, 'succeeded');
    expect(await titlesOf(tenant.owner)).toEqual([
      expect.stringMatching(/^The run of the assembly .+ in .+ \/ .+ succeeded$/),
    ]);
    const { body } = await tenant.owner.get('/notifications/threads');
    expect(body.threads).toHaveLength(1);
    expect(body.threads[0].latest.subject).toEqual({ kind: 'assembly_run', id: run.id });

    const visitor = await signInVisitor(api, tenant.owner);
    expect((await visitor.get('/notifications')).text).toContain(`href="/workloads/assembly-runs/${run.id}"`);
    expect((await visitor.get(`/workloads/assembly-runs/${run.id}`)).location).toBe(run.path);
  });

  it('names each failed node with its error only once in the notification', async () => {
    const run = await start(tenant.owner, 10);
    await end(run, 'failed', '"node-3": Error: no capacity');
    const titles = await titlesOf(tenant.owner);
    expect(titles).toEqual([expect.stringMatching(/ failed: "node-3": Error: no capacity$/)]);
  });

  it('notifies its requester who rejected the plan of which node, with the comment', async () => {
    const run = await start(tenant.owner, 2);
    await reject(run.runs[0], 'Rita', 'Too many zones');
    await end(run, 'canceled', null, 'nodes_rejected');
    expect(await titlesOf(tenant.owner)).toEqual([
      expect.stringMatching(/^Rita rejected the plan of i-\S+ in the run of the assembly .+ in .+ \/ .+$/),
    ]);
    await subscribeToMail();
    await end(run, 'canceled', null, 'nodes_rejected');
    const [facts] = await mailedFacts(run);
    expect(facts?.[0]).toMatch(/^Rita rejected the plan of i-\S+ and says: Too many zones$/);
  });

  it('names only the second reviewer in the notification after it was resumed and rejected again', async () => {
    await subscribeToMail();
    const run = await start(tenant.owner, 2);
    await reject(run.runs[0], 'Rita', 'Too many zones');
    await end(run, 'canceled', null, 'nodes_rejected');
    const resumed = await resume(run);
    await reject(resumed.runs[1], 'Sam', 'Too few zones');
    await end(resumed, 'canceled', null, 'nodes_rejected');
    expect((await titlesOf(tenant.owner))[0]).toMatch(/^Sam rejected the plan of i-/);
    const facts = (await mailedFacts(run)).at(-1);
    expect(facts?.filter((fact) => fact.includes('rejected'))).toEqual([
      expect.stringMatching(/^Sam rejected the plan of i-\S+ and says: Too few zones$/),
    ]);
  });

  it.each(['succeeded', 'canceled'] as const)(
    'does not repeat an earlier rejection in the notification if it was resumed and then %s',
    async (status) => {
      await subscribeToMail();
      const run = await start(tenant.owner, 2);
      await reject(run.runs[0], 'Rita', 'Too many zones');
      await end(run, 'canceled', null, 'nodes_rejected');
      await end(await resume(run), status, null, status === 'canceled' ? 'nodes_canceled' : null);
      expect((await mailedFacts(run)).at(-1)?.join(' ')).not.toContain('Rita');
    },
  );

  it('does not report a rejection if a person cancels it after one node was rejected', async () => {
    await subscribeToMail();
    const run = await start(tenant.owner, 2);
    await reject(run.runs[0], 'Rita', 'Too many zones');
    await end(run, 'canceled', null, 'canceled_by_user');
    expect((await mailedFacts(run)).flat().join(' ')).not.toContain('Rita');
  });

  it('sends a channel and the mailbox of its requester one message each', async () => {
    const config = { url: 'https://127.0.0.1:9/hook' };
    const made = await tenant.owner.post('/admin/notification-channels', {
      name: 'Chat',
      kind: 'slack',
      team_id: tenant.team,
      config,
      subscriptions: [{ events: ['run.*'] }],
    });
    expect(made.status, made.text).toBe(201);
    await subscribeToMail();
    const run = await start(tenant.owner, 10);
    await end(run, 'succeeded');
    const messages = await api.rows<{ medium: string }>(
      'select medium, subject_kind, subject_id from outgoing_messages order by medium',
    );
    const subject = { subject_kind: 'assembly_run', subject_id: run.id };
    expect(messages).toEqual([
      { medium: 'chat', ...subject },
      { medium: 'email', ...subject },
    ]);
  });

  it('creates no notification for users who may not read it', async () => {
    const stranger = await makeTenant(api);
    const run = await start(tenant.owner, 1);
    await end(run, 'succeeded');
    expect(await titlesOf(stranger.owner)).toEqual([]);
    const visitor = await signInVisitor(api, stranger.owner);
    const answers = await Promise.all(
      [run.id, randomUUID()].map((id) => visitor.get(`/workloads/assembly-runs/${id}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });
});
