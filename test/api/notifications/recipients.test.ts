import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { notifyOfUpcomingEnds } from '#domain/notifications/creation/upcoming.ts';
import type { NewEvent } from '#domain/shared/events/publish.ts';
import { disableWebhook } from '#domain/webhooks/disabling.ts';
import { type DisabledReason, disabledReasons } from '#domain/webhooks/model.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addFinding, addMonitor, type Execute } from '#test/support/drift/drift-rows.ts';
import { NotifiedTeam, titlesOf } from '#test/support/notifications/notified-team.ts';

/** The recipients of notifications that are not about a run. */
let api: TestApi;
let team: NotifiedTeam;
let tenant: Tenant;
let foreign: Tenant;
let admin: ApiUser;
let reviewer: ApiUser;
let second: ApiUser;
let execute: Execute;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  admin = await api.addUser('admin');
  team = await NotifiedTeam.start(api);
  ({ reviewer, second } = team);
  ({ tenant } = team.runs);
  foreign = await makeTenant(api);
  execute = (sql, values) => api.services.orm.em.fork().execute(sql, values);
});
afterAll(() => api?.close());
beforeEach(async () => {
  await team.forget();
  await api.rows('update drift_findings set suppressed_until = null');
});

/** A run that is being planned, and its instance. */
async function beginRun(): Promise<{ run: string; instance: string }> {
  const { runId: run } = await team.runs.begin();
  const { body } = await team.runs.asker.get(`/runs/${run}`);
  return { run, instance: body.instance_id };
}

describe('the members of a team', () => {
  it('are notified of a scan that found something or failed, and of no other', async () => {
    const { run, instance } = await beginRun();
    const monitor = await addMonitor(execute, { instance, team: tenant.team, environment: tenant.environment });
    const scanned = (status: 'succeeded' | 'failed', opened: number, perpetual = 0): NewEvent => ({
      type: 'drift_monitor.scanned',
      subjectId: monitor,
      owners: { teamId: tenant.team },
      data: { run_id: run, status, found: opened, ignored: 0, opened, resolved: 0, opened_perpetual: perpetual },
    });
    await team.publish(scanned('succeeded', 0));
    await team.publish(scanned('succeeded', 2));
    await team.publish(scanned('succeeded', 1, 1));
    await team.publish(scanned('failed', 0));
    expect(await titlesOf(reviewer)).toEqual([
      expect.stringMatching(/^The scan of net-\d+ in .+ \/ .+ \/ .+ failed$/),
      expect.stringMatching(/ found a new deviation, which differs at each plan$/),
      expect.stringMatching(/^A scan of net-\d+ in .+ \/ .+ \/ .+ found 2 new deviations$/),
    ]);
    expect(await titlesOf(foreign.owner)).toEqual([]);
  });

  it('are notified once of an instance whose time to live ends within a day', async () => {
    const { run, instance } = await beginRun();
    const [environment] = await api.rows<{ id: string }>('select environment_id as id from instances where id = ?', [
      instance,
    ]);
    const deployed = (hoursAgo: number) =>
      api.rows(`update runs set status = 'succeeded', finished_at = now() - make_interval(hours => ?) where id = ?`, [
        hoursAgo,
        run,
      ]);
    await api.rows('update instances set resource_count = 1, deployed_run_id = ? where id = ?', [run, instance]);
    await api.rows('update environments set ttl_seconds = 172800 where id = ?', [environment?.id]);
    await api.rows(
      `update template_versions set spec = jsonb_set(spec, '{executor,destroy}', spec #> '{executor,apply}')
        where id = (select template_version_id from runs where id = ?)`,
      [run],
    );
    const tellAll = () => notifyOfUpcomingEnds(api.services.orm.em.fork(), new Set(), api.services.log);
    await deployed(23);
    await tellAll();
    expect(await titlesOf(reviewer), 'a day and an hour before').toEqual([]);
    await deployed(25);
    for (const _ of [1, 2]) await tellAll();
    expect(await titlesOf(reviewer)).toEqual([
      expect.stringMatching(/^net-\d+ in .+ \/ .+ \/ .+ is destroyed on \d{4}-.* UTC, because its time to live ends$/),
    ]);
    expect(await titlesOf(foreign.owner)).toEqual([]);
    await api.rows('update environments set ttl_seconds = 169200 where id = ?', [environment?.id]);
    await tellAll();
    expect(await titlesOf(reviewer), 'the time to live was changed').toHaveLength(2);
    await api.rows('update environments set ttl_seconds = null where id = ?', [environment?.id]);
  });

  it('are notified once of a suppression that expires within a day', async () => {
    const { run, instance } = await beginRun();
    const owner = { instance, team: tenant.team };
    const monitor = await addMonitor(execute, { ...owner, environment: tenant.environment });
    const { finding } = await addFinding(execute, { ...owner, monitor, run });
    const until = (hours: number) =>
      api.rows(
        `update drift_findings set status = 'suppressed', suppressed_until = now() + make_interval(hours => ?) where id = ?`,
        [hours, finding],
      );
    await until(25);
    await notifyOfUpcomingEnds(api.services.orm.em.fork(), new Set(), api.services.log);
    expect(await titlesOf(reviewer)).toEqual([]);
    await until(23);
    for (const _ of [1, 2]) await notifyOfUpcomingEnds(api.services.orm.em.fork(), new Set(), api.services.log);
    expect(await titlesOf(reviewer)).toEqual([
      expect.stringMatching(/^The suppression of drift in local_file.greeting ends on \d{4}-/),
    ]);
    expect(await titlesOf(foreign.owner)).toEqual([]);
  });
});

describe('the managers of a webhook', () => {
  const title = 'The service disabled the webhook Chat';

  async function disable(reason: DisabledReason): Promise<string> {
    const wanted = { name: 'Chat', url: 'http://127.0.0.1:9/', events: ['*'], team_id: tenant.team };
    const { id } = await tenant.owner.make('/admin/webhooks', wanted);
    const { transactions, installation } = api.services;
    await disableWebhook({ transactions, bindingKey: installation.bindingKey }, id, reason);
    await team.notify();
    return id;
  }

  it.each(['gone', 'failing', 'behind'] as const)(
    'are notified, like administrators, that the service disabled it as `%s`',
    async (reason) => {
      const id = await disable(reason);
      expect([await titlesOf(tenant.owner), await titlesOf(reviewer)]).toEqual([[title], [title]]);
      expect(await titlesOf(foreign.owner)).toEqual([]);
      expect(await titlesOf(admin)).toEqual([title]);
      await tenant.owner.delete(`/admin/webhooks/${id}`);
      expect(await titlesOf(tenant.owner)).toEqual([]);
    },
  );

  it('are notified, unlike administrators, that it was disabled as `transferred`', async () => {
    await disable('transferred');
    expect(await titlesOf(tenant.owner)).toEqual([title]);
    expect(await titlesOf(admin)).toEqual([]);
  });

  it('get the reason in the message', async () => {
    await disable('behind');
    const messages = await api.rows('select content from outgoing_messages where user_id = ?', [tenant.owner.id]);
    expect(messages).toMatchObject([{ content: { title, facts: [disabledReasons.behind] } }]);
  });
});

describe('administrators', () => {
  it('are notified of a full quota, unlike other users', async () => {
    const { name } = (await tenant.owner.get(`/organizations/${tenant.organization}/teams/${tenant.team}`)).body;
    const data = { scope: 'team', id: tenant.team, kind: 'queued_runs', limit: 20, used: 20 } as const;
    await team.publish({ type: 'quota.exceeded', subjectId: tenant.team, owners: { teamId: tenant.team }, data });
    expect(await titlesOf(admin)).toEqual([`Team ${name} has used 20 of 20 queued runs`]);
    expect(await titlesOf(tenant.owner)).toEqual([]);
  });
});

describe('the owner of a key', () => {
  const endsIn = (id: string, days: number) =>
    api.rows(
      `update api_keys set created_at = now() - interval '30 days', expires_at = now() + make_interval(days => ?) where id = ?`,
      [days, id],
    );

  it('is notified once that it expires within a week, unless its lifetime was shorter', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString();
    const make = async (name: string, days: number) =>
      (await reviewer.post('/profile/api-keys', { name, expires_at: inDays(days) })).body.api_key.id;
    const [near, far] = [await make('near', 20), await make('far', 20), await make('short', 2)];
    await endsIn(near, 6);
    await endsIn(far, 8);
    for (const _ of [1, 2]) await notifyOfUpcomingEnds(api.services.orm.em.fork(), new Set(), api.services.log);
    expect(await titlesOf(reviewer)).toEqual([
      expect.stringMatching(/^Your key near expires on \d{4}-\d\d-\d\d .* UTC$/),
    ]);
    for (const other of [second, admin]) expect(await titlesOf(other)).toEqual([]);
    await reviewer.delete(`/profile/api-keys/${near}`);
    expect(await titlesOf(reviewer)).toEqual([]);
  });

  it("the owner of a service account's key is the user who owns the account, or all owners of its team", async () => {
    for (const owner of [{ team_id: tenant.team }, { user_id: tenant.owner.id }]) {
      const { id } = await tenant.owner.make('/service-accounts', { name: 'deploy', role: 'requester', owner });
      const { body } = await tenant.owner.post(`/service-accounts/${id}/api-keys`, { name: 'ci' });
      await endsIn(body.api_key.id, 3);
    }
    await notifyOfUpcomingEnds(api.services.orm.em.fork(), new Set(), api.services.log);
    expect(await titlesOf(tenant.owner)).toHaveLength(2);
    for (const other of [reviewer, admin]) expect(await titlesOf(other)).toEqual([]);
  });
});
