import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendAtOnce } from '#test/support/api/at-once.ts';
import { openApi, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type QuotaStage, startQuotaStages } from '#test/support/quotas/quota-stage.ts';

let api: TestApi;
let other: TestApi;
let make: () => Promise<QuotaStage>;
beforeAll(async () => {
  api = await startApi();
  // Another process with connections of its own.
  other = await openApi(api.services.config, api.services.log);
  make = await startQuotaStages(api);
});
afterAll(async () => {
  await other?.close();
  await api?.close();
});

const refusal = ({ status, headers, text }: { status: number; headers: Record<string, unknown>; text: string }) => [
  status,
  headers['x-error-code'],
  text,
];

describe('a full quota', () => {
  it.each(['environment', 'team', 'organization', 'installation'])(
    'a full quota of the %s refuses another queued run with 429, what is used and the limit',
    async (scope) => {
      const stage = await make();
      const id = scope === 'installation' ? 'global' : stage.tenant[scope as 'team'];
      const before = (await stage.used(scope, id)).queued_runs ?? 0;
      await stage.limit(scope, id, { queued_runs: before + 1 });
      await stage.admit();
      const answer = await stage.run();
      expect(refusal(answer)).toEqual([
        429,
        'quota_exceeded',
        expect.stringContaining(`${before + 1} of ${before + 1}`),
      ]);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect((await stage.clear(scope, id)).status).toBe(204);
      expect((await stage.run()).status).toBe(202);
    },
  );

  it('answers its kind, its scope, the limit and the usage in an error for programs', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    await stage.limit('team', team, { queued_runs: 0 });
    const body = { template_id: stage.template, environment_id: stage.tenant.environment };
    const { text } = await stage.tenant.owner.post('/runs', body, { accept: 'application/problem+json' });
    expect(JSON.parse(text)).toMatchObject({
      code: 'quota_exceeded',
      errors: [
        {
          path: '',
          message: expect.stringContaining('0 of 0'),
          scope: 'team',
          id: team,
          kind: 'queued_runs',
          limit: 0,
          used: 0,
        },
      ],
    });
  });

  it('is created only with the expected revision 0, and not for invalid ids', async () => {
    const stage = await make();
    const admin = await api.addUser('admin');
    const put = (id: string, scope = 'team') =>
      admin.put(`/admin/quotas/${scope}/${id}`, { limits: { instances: 3 }, expected_revision: 0 });
    expect((await put(stage.tenant.team)).status).toBe(200);
    const again = await put(stage.tenant.team);
    expect([again.status, again.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    for (const [id, scope] of [
      ['abc', 'team'],
      ['core', 'installation'],
      ['global', 'organization'],
    ] as const)
      expect([(await put(id, scope)).status, (await admin.get(`/admin/quotas/${scope}/${id}`)).status]).toEqual([
        400, 400,
      ]);
  });

  it('a full quota of runs a day says how long it is until midnight', async () => {
    const stage = await make();
    await stage.limit('team', stage.tenant.team, { runs_per_day: 1 });
    await stage.cancel(await stage.admit());
    const answer = await stage.run();
    expect(refusal(answer)).toEqual([429, 'quota_exceeded', expect.stringContaining('1 of 1 runs admitted today')]);
    const now = Date.now();
    const untilMidnight = (Date.UTC(1970, 0, 2) - (now % Date.UTC(1970, 0, 2))) / 1000;
    expect(Math.abs(Number(answer.headers['retry-after']) - untilMidnight)).toBeLessThan(60);
  });

  it('a full quota of instances, templates, keys or bytes of state refuses more, and leaves no rows', async () => {
    const stage = await make();
    const { owner, team, environment } = stage.tenant;
    const account = await owner.make('/service-accounts', { name: 'ci', role: 'requester', owner: { team_id: team } });
    await stage.limit('team', team, { instances: 1, templates: 0, api_keys: 1, state_bytes: 200 });
    const instance = await owner.make('/instances', {
      environment_id: environment,
      template_id: stage.template,
      name: 'one',
    });
    const state = (text: string) => ({
      version: 4,
      serial: 1,
      lineage: 'one',
      outputs: {},
      resources: [],
      terraform_version: text,
    });
    await owner.make(`/service-accounts/${account.id}/api-keys`, { name: 'first' });
    const refused = [
      await owner.post('/instances', { environment_id: environment, template_id: stage.template, name: 'two' }),
      await stage.run({ instance: 'three' }),
      await owner.post('/registry/templates', { name: 'Mine', team_id: team }),
      await owner.post(`/service-accounts/${account.id}/api-keys`, { name: 'second' }),
      await owner.post(`/instances/${instance.id}/state`, state('x'.repeat(200))),
    ];
    for (const answer of refused) expect(refusal(answer)).toEqual([429, 'quota_exceeded', expect.anything()]);
    expect(await stage.used('team', team)).toMatchObject({ instances: 1, templates: 0, api_keys: 1, state_bytes: 0 });
    expect((await owner.post(`/instances/${instance.id}/state`, state('1.12.6'))).status).toBe(201);
    expect((await stage.used('team', team)).state_bytes).toBeGreaterThan(80);
  });

  it('does not refuse requests of another tenant', async () => {
    const [stage, neighbour] = [await make(), await make()];
    await stage.limit('organization', stage.tenant.organization, { queued_runs: 0, instances: 0 });
    expect((await stage.run()).status).toBe(429);
    expect((await neighbour.run()).status).toBe(202);
  });
});

describe('fifty simultaneous requests at two processes', () => {
  it('never exceed a limit', async () => {
    const stage = await make();
    const { owner, environment, organization, team } = stage.tenant;
    const twin = Object.assign(Object.create(Object.getPrototypeOf(owner)), owner, { api: other });
    await stage.limit('organization', organization, { queued_runs: 7 });
    await stage.limit('team', team, { instances: 9 });
    const answers = await sendAtOnce(50, (n) => stage.run({}, n % 2 ? owner : twin));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(43);
    const body = (n: number) => ({ environment_id: environment, template_id: stage.template, name: `raced-${n}` });
    const made = await sendAtOnce(50, (n) => (n % 2 ? owner : twin).post('/instances', body(n)));
    expect(made.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(2);
    expect(await stage.used('team', team)).toMatchObject({ queued_runs: 7, instances: 9 });
  });

  it('never exceed a limit that is set meanwhile', async () => {
    const stage = await make();
    const racing = Array.from({ length: 30 }, () => stage.run());
    const { usage } = await stage.limit('team', stage.tenant.team, { queued_runs: 5 });
    const used = usage.find(({ kind }: { kind: string }) => kind === 'queued_runs').used;
    await Promise.all(racing);
    expect((await stage.used('team', stage.tenant.team)).queued_runs).toBe(Math.max(used, 5));
  });
});

describe('the default quotas of the settings', () => {
  it('limit an organization or a team without a quota of its own', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    const set = (default_quotas: object) => stage.admin.patch('/admin/settings', { default_quotas });
    try {
      expect((await set({ instances: 1 })).status).toBe(200);
      expect((await stage.run()).status).toBe(202);
      expect((await stage.run()).text).toContain('the quota of the team is used up: 1 of 1 instances');
      const { body } = await stage.admin.get(`/admin/quotas/team/${team}`);
      expect(body).toMatchObject({ limits: {}, revision: null });
      expect(body.usage).toContainEqual({ kind: 'instances', limit: 1, used: 1 });
      await stage.limit('team', team, {});
      await stage.limit('organization', stage.tenant.organization, { instances: 5 });
      expect((await stage.run()).status).toBe(202);
    } finally {
      await set({ instances: null });
    }
  });
});

describe('a quota', () => {
  it('a quota with damaged rows refuses requests with 503 until it is set or cleared', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    for (const damaged of ['{"queued_runs":"many"}', 'null', '[]', '{"unheard":1}']) {
      await stage.limit('team', team, { queued_runs: 5 });
      await api.rows('update quotas set limits = ?::jsonb where team_id = ?', [damaged, team]);
      expect((await stage.run()).status).toBe(503);
      const { body } = await stage.admin.get('/admin/quotas?scope=team');
      expect(body.quotas.find(({ id }: { id: string }) => id === team)).toMatchObject({ limits: null, usage: [] });
      if (damaged === 'null') expect((await stage.clear('team', team)).status).toBe(204);
    }
    await stage.limit('team', team, { queued_runs: 1 });
    expect((await stage.run()).status).toBe(202);
  });

  it('a quota of bytes with an impossible usage answers 503 until a recount', async () => {
    const stage = await make();
    const { owner, team, environment } = stage.tenant;
    const instance = await owner.make('/instances', {
      environment_id: environment,
      template_id: stage.template,
      name: 'one',
    });
    const state = { version: 4, serial: 1, lineage: 'one', outputs: {}, resources: [] };
    expect((await owner.post(`/instances/${instance.id}/state`, state)).status).toBe(201);
    await stage.limit('team', team, { state_bytes: 10_000 });
    const { state_bytes: bytes } = await stage.used('team', team);
    await api.rows('update instance_usages set state_bytes = -5 where instance_id = ?', [instance.id]);
    expect((await stage.run()).status).toBe(503);
    expect((await stage.used('team', team)).state_bytes).toBeNull();
    await stage.limit('team', team, { state_bytes: 20_000 });
    expect((await stage.admin.post(`/admin/quotas/team/${team}/recount`)).status).toBe(200);
    expect((await stage.used('team', team)).state_bytes).toBe(bytes);
    expect((await stage.run()).status).toBe(202);
  });

  it('can be lower than the usage, is refused with a stale revision or an unknown kind, and is deleted with its team', async () => {
    const stage = await make();
    const { team, environment } = stage.tenant;
    await stage.admit();
    const quota = await stage.limit('team', team, { queued_runs: 0 });
    expect(quota).toMatchObject({ limits: { queued_runs: 0 }, revision: 1 });
    const put = (path: string, body: object) => stage.admin.put(`/admin/quotas/${path}`, body);
    expect((await put(`team/${team}`, { limits: {}, expected_revision: 7 })).status).toBe(409);
    expect((await put(`environment/${environment}`, { limits: { templates: 1 } })).status).toBe(400);
    expect((await put(`team/${team}`, { limits: { queued_runs: -1 } })).status).toBe(400);
    expect((await put(`team/${environment}`, { limits: {} })).status).toBe(404);
    expect((await put('installation/other', { limits: {} })).status).toBe(400);
    expect((await stage.tenant.owner.put(`/admin/quotas/team/${team}`, { limits: {} })).status).toBe(403);
  });

  it('a quota that is set again after it was cleared continues its revisions, so that a stale one is refused', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    const path = `/admin/quotas/team/${team}`;
    const put = (limits: object, revision: number) => stage.admin.put(path, { limits, expected_revision: revision });
    expect((await put({ queued_runs: 0 }, 0)).body.revision).toBe(1);
    expect((await stage.clear('team', team)).status).toBe(204);
    expect((await stage.run()).status).toBe(202);
    expect((await stage.clear('team', team)).status).toBe(404);
    const cleared = await stage.admin.get(path);
    expect(cleared.body).toMatchObject({ limits: {}, revision: null });
    const listed = await stage.admin.get('/admin/quotas?scope=team');
    expect(listed.body.quotas.filter(({ id }: { id: string }) => id === team)).toEqual([]);
    expect((await put({ queued_runs: 9 }, 1)).status).toBe(409);
    expect((await put({ queued_runs: 9 }, 0)).body).toMatchObject({ limits: { queued_runs: 9 }, revision: 2 });
    const stale = await stage.admin.send('DELETE', path, undefined, { 'if-match': '"1"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
  });

  it('a quota that becomes full is reported once, to the readers of its owner', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    await stage.limit('team', team, { queued_runs: 2 });
    const [first] = [await stage.admit(), await stage.admit()];
    await stage.run();
    await stage.cancel(first);
    await stage.admit();
    const events = await api.rows(
      `select team_id, data from domain_events where type = 'quota.exceeded' and subject_id = ?`,
      [team],
    );
    expect(events).toEqual([
      { team_id: team, data: { scope: 'team', id: team, kind: 'queued_runs', limit: 2, used: 2 } },
    ]);
  });

  it('a quota of 0 is not reported as full when it is set and nothing is used', async () => {
    const stage = await make();
    const { team } = stage.tenant;
    await stage.limit('team', team, { templates: 0, queued_runs: 0 });
    const reports = () =>
      api.rows(`select id from domain_events where type = 'quota.exceeded' and subject_id = ?`, [team]);
    expect(await reports()).toEqual([]);
  });
});
