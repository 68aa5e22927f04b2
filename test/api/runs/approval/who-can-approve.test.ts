import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let tenant: Tenant;
let run: string;
const people: Record<string, ApiUser> = {};
const person = (name: string) => people[name] as ApiUser;

const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api, { approval_policy: { required: 2, when: 'always', allow_self: false } });
  const platformRoles = { asker: 'operator', first: 'operator', second: 'operator', viewer: 'operator' } as const;
  for (const [name, role] of Object.entries(platformRoles)) {
    people[name] = await api.addUser(role, name);
    await join(tenant, person(name), 'member', name === 'viewer' ? 'viewer' : 'admin');
  }
  for (const name of ['requester', 'gone']) {
    people[name] = await api.addUser(name === 'gone' ? 'operator' : 'requester', name);
    await join(tenant, person(name), 'member', 'member');
  }
  await api.rows('update principals set enabled = false where id = ?', [person('gone').id]);
  run = await makeWaitingRun();
});
afterAll(() => api?.close());

async function makeWaitingRun(): Promise<string> {
  const { owner, team, environment } = tenant;
  const template = await owner.make('/registry/templates', { name: 'Network', team_id: team });
  await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
  const steps = new RunSteps(api, await api.addUser('admin'));
  const worker = await steps.worker('sandbox');
  const body = { template_id: template.id, environment_id: environment, instance: 'network' };
  const { id } = (await person('asker').post('/runs', body)).body;
  const attemptId = executing(await steps.next({ runId: id }));
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId: id, executed: attemptId });
  const { plan } = (await person('first').get(`/runs/${id}`)).body;
  const review = { decision: 'approve', plan_digest: plan.digest };
  expect((await person('first').post(`/runs/${id}/approval/review`, review)).status).toBe(200);
  return id;
}

const ask = async (path: string, by = person('asker')): Promise<Record<string, string | null>> => {
  const { status, body, text } = await by.get(path);
  expect(status, text).toBe(200);
  const names = new Map([
    [tenant.owner.id, 'owner'],
    ...Object.entries(people).map(([name, { id }]) => [id, name] as const),
  ]);
  return Object.fromEntries(
    body.reviewers.map((each: { id: string; may_approve: boolean; obstacle: string | null }) => {
      expect(each.may_approve).toBe(each.obstacle === null);
      return [names.get(each.id), each.obstacle];
    }),
  );
};

const always = { viewer: 'team_role', requester: 'permission', gone: 'disabled' };

describe('who can approve', () => {
  it('is read only once by each page of a run that warns of too few reviewers', async () => {
    const visitor = await signInVisitor(api, person('asker'));
    const pool = await api.services.orm.em.getConnection().getNativeClient();
    const query = vi.spyOn(pool, 'query');
    try {
      for (const path of [`/workloads/runs/${run}?tab=plan`, `/workloads/runs/${run}/request-approval`]) {
        query.mockClear();
        expect((await visitor.get(path)).status).toBe(200);
        const texts = query.mock.calls.map(([statement]) => JSON.stringify(statement));
        expect([
          path,
          texts.filter((text) => /"team_members".*lower\(p\.name\)/.test(text.replaceAll('\\', ''))).length,
        ]).toEqual([path, 1]);
      }
    } finally {
      query.mockRestore();
    }
  });

  it('depends only on roles for a team and an environment', async () => {
    const expected = { ...always, owner: null, asker: null, first: null, second: null };
    expect(await ask(`${tenant.teamPath}/reviewers`)).toEqual(expected);
    expect(await ask(`/environments/${tenant.environment}/reviewers`)).toEqual(expected);
  });

  it('agrees for a run with the status that a review by each user gets', async () => {
    const found = await ask(`/runs/${run}/approval/reviewers`);
    expect(found).toEqual({
      ...always,
      owner: 'publisher',
      asker: 'requester',
      first: 'already_reviewed',
      second: null,
    });
    const review = { decision: 'approve', plan_digest: `sha256:${'0'.repeat(64)}` };
    const { plan } = (await person('second').get(`/runs/${run}`)).body;
    for (const name of ['asker', 'first', 'viewer', 'requester', 'second']) {
      const sent = await person(name).post(`/runs/${run}/approval/review`, { ...review, plan_digest: plan.digest });
      expect([name, sent.status === 200]).toEqual([name, found[name] === null]);
    }
  });

  it('says if a policy needs more reviewers than there are, and each page that shows the policy warns', async () => {
    const { owner, environment, teamPath } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const administrators = (
      await api.rows(
        "select id from principals where role = 'admin' and kind = 'user' and enabled and deleted_at is null",
      )
    ).length;
    const cases: [object, string | null, string][] = [
      [
        { required: administrators + 2, when: 'changes', allow_self: true },
        'unreachable',
        'No run that needs approval can',
      ],
      [
        { required: administrators + 1, when: 'changes', allow_self: false },
        'own_runs',
        'a run that one of them requests',
      ],
      [
        { required: administrators + 1, when: 'changes', allow_self: true },
        'administrators',
        'only with approvals of adm',
      ],
      [{ required: administrators + 2, when: 'never', allow_self: false }, null, ''],
      [{ required: 1, when: 'changes', allow_self: true }, null, ''],
    ];
    for (const [policy, shortage, words] of cases) {
      const { revision } = (await owner.get(`/environments/${environment}`)).body;
      const body = { approval_policy: policy, expected_revision: revision };
      expect((await owner.patch(`/environments/${environment}`, body)).status).toBe(200);
      const { body: answer } = await owner.get(`/environments/${environment}/reviewers`);
      expect([policy, answer.shortage]).toEqual([policy, shortage]);
      for (const page of [
        `/environments/${environment}`,
        `/environments/${environment}/reviewers`,
        `${teamPath}/setup/policy?environment_id=${environment}`,
      ]) {
        const { text } = await visitor.get(page);
        expect([page, text.includes('notice"><svg') && text.includes(words)]).toEqual([page, shortage !== null]);
      }
    }
  });

  it('is hidden from those from whom its team, environment or run is hidden', async () => {
    const stranger = await api.addUser('operator');
    for (const path of [
      `${tenant.teamPath}/reviewers`,
      `/environments/${tenant.environment}/reviewers`,
      `/runs/${run}/approval/reviewers`,
    ])
      expect([path, (await stranger.get(path)).status]).toEqual([path, 404]);
  });

  it('is on pages with the reasons, and with a button for visitors who may add a reviewer', async () => {
    const paths = [
      `${tenant.teamPath}/reviewers`,
      `/environments/${tenant.environment}/reviewers`,
      `/workloads/runs/${run}/reviewers`,
    ];
    const [owner, viewer] = [await signInVisitor(api, tenant.owner), await signInVisitor(api, person('viewer'))];
    for (const path of paths) {
      const [managed, looked] = [await owner.get(path), await viewer.get(path)];
      expect([path, managed.status, looked.status]).toEqual([path, 200, 200]);
      for (const reason of ['The account is disabled.', 'The platform role requester does not allow'])
        expect(managed.text).toContain(reason);
      expect(managed.text).toContain(`href="${tenant.teamPath}/members?role=admin#add"`);
      expect(looked.text).not.toContain('Add a member');
      expect(looked.text).toContain('Owners and admins of the team can add members.');
    }
    expect((await owner.get(paths[2] ?? '')).text).toContain('Published the version of the template.');
  });
});
