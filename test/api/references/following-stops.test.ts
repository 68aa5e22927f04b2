import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fail, failureFor } from '#domain/following/failures.ts';
import { findFollow } from '#domain/following/follows-store.ts';
import { notifyOfEvents } from '#domain/notifications/creation/follow.ts';
import { join } from '#test/support/access/tenancy.ts';
import type { ApiUser } from '#test/support/api/in-process-api.ts';
import { titlesOf } from '#test/support/notifications/notified-team.ts';
import { Following } from '#test/support/references/following.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { executing } from '#test/support/runs/run-steps.ts';

/** Events that end following, and who is notified. */

let stage: ReadingStage;
let following: Following;
/** The author of the follows, an admin of the team; another admin; a viewer; and a user of another team. */
let author: ApiUser;
let colleague: ApiUser;
let viewer: ApiUser;
let stranger: ApiUser;
let otherTeam: string;

beforeAll(async () => {
  stage = await openReadingStage();
  following = new Following(stage);
  const { api, tenant } = stage;
  [author, colleague, viewer, stranger] = [
    await api.addUser('maintainer'),
    await api.addUser('maintainer'),
    await api.addUser('maintainer'),
    await api.addUser('maintainer'),
  ];
  await join(tenant, author, 'member', 'admin');
  await join(tenant, colleague, 'member', 'admin');
  await join(tenant, viewer, 'member', 'viewer');
  await join(tenant, stranger, 'member');
  otherTeam = (await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Other' })).id;
  const path = `/organizations/${tenant.organization}/teams/${otherTeam}/members/${stranger.id}`;
  expect((await tenant.owner.put(path, { role: 'admin' })).status).toBe(200);
});
afterAll(() => stage?.api.close());

/** Returns the titles of the notifications that each user got since the last call. */
async function told(...users: ApiUser[]): Promise<string[][]> {
  const { orm, log } = stage.api.services;
  while (await notifyOfEvents(orm, async () => new Set(), log));
  const titles = [];
  for (const user of users) titles.push(await titlesOf(user));
  await stage.api.rows('delete from notifications');
  return titles;
}

async function follows(instance: string, caller = author): Promise<void> {
  const { status, text } = await following.follow(instance, true, caller);
  expect(status, text).toBe(200);
  await told();
}

/** Another project with an environment whose slug is that name. */
async function addProject(name: string): Promise<{ project: string; environment: string }> {
  const { owner, team } = stage.tenant;
  const project = (await owner.make('/projects', { team_id: team, name, slug: name })).id;
  const place = { project_id: project, name: 'Place', slug: 'place', kind: 'development' };
  return { project, environment: (await owner.make('/environments', place)).id };
}

const couldNot = (name: string) => [
  expect.stringMatching(new RegExp(`^${name} in .+ / .+ could not follow outputs that it was deployed with$`)),
];

describe('following the outputs of another instance', () => {
  test('stops, with notifications, once its author may no longer start runs there', async () => {
    const { reader } = await following.pair('demoted');
    await follows(reader);
    const path = `${stage.tenant.teamPath}/members/${author.id}`;
    expect((await stage.tenant.owner.put(path, { role: 'viewer' })).status).toBe(200);
    await following.redeploy('demoted', { size: plain(2) });
    expect((await stage.tenant.owner.put(path, { role: 'admin' })).status).toBe(200);
    expect(await following.runsOf(reader)).toEqual([]);
    expect((await following.read(reader)).stopped_because).toBe('not_permitted');
    expect(await told(author, colleague, viewer, stranger)).toEqual([
      couldNot('of-demoted'),
      couldNot('of-demoted'),
      [],
      [],
    ]);
  });

  test('stops, with notifications to the new team only, if the instance is transferred', async () => {
    const there = await addProject('moved-reader');
    const source = await stage.deploy({ instance: 'stays' }, { size: plain(1) });
    await stage.allow(source, { environment_ids: [there.environment] });
    const variables = { size: `\${instances.network/shared/stays.outputs.size}` };
    const { body, status, text } = await stage.ask(variables, { instance: 'moves', environment_id: there.environment });
    expect(status, text).toBe(202);
    await stage.finish(body.id);
    await follows(body.instance_id);
    const moved = await stage.tenant.owner.post(`/projects/${there.project}/transfer`, { team_id: otherTeam });
    expect(moved.status, moved.text).toBe(200);
    expect((await following.read(body.instance_id)).stopped_because).toBe('owner_changed');
    await following.redeploy('stays', { size: plain(2) });
    expect(await following.runsOf(body.instance_id)).toEqual([]);
    expect(await following.read(body.instance_id)).toMatchObject({ failure: { reason: 'owner_changed' } });
    expect(await told(author, colleague, stranger)).toEqual([[], [], couldNot('moves')]);
  });

  test('notifies nobody of the earlier team if the instance is transferred while a failure is recorded', async () => {
    const there = await addProject('moved-between');
    const source = await stage.deploy({ instance: 'between' }, { size: plain(1) });
    await stage.allow(source, { environment_ids: [there.environment] });
    const variables = { size: `\${instances.network/shared/between.outputs.size}` };
    const { body } = await stage.ask(variables, { instance: 'went', environment_id: there.environment });
    await stage.finish(body.id);
    await follows(body.instance_id);
    const read = await findFollow(stage.api.services.orm.em.fork(), body.instance_id);
    if (!read) throw new Error('the instance does not follow');
    const moved = await stage.tenant.owner.post(`/projects/${there.project}/transfer`, { team_id: otherTeam });
    expect(moved.status, moved.text).toBe(200);
    const change = { follow: read, seen: 'next', reads: [], startedBy: null, runs: [] };
    await fail(following.deps, change, failureFor('too_long'));
    expect(await told(author, colleague, stranger)).toEqual([[], [], []]);
    expect(await findFollow(stage.api.services.orm.em.fork(), body.instance_id)).toMatchObject({
      seen: read.seen,
      failure: null,
    });
  });

  test('reports once that the values of the last deployment were deleted and cannot be compared', async () => {
    const { reader, run } = await following.pair('erased');
    await follows(reader);
    await stage.api.rows('update instances set resource_count = 0 where id = ?', [reader]);
    const admin = await stage.api.addUser('admin');
    const erased = await admin.send('DELETE', `/runs/${run}`);
    expect(erased.status, erased.text).toBe(204);
    const upstream = async () => {
      const { body } = await stage.tenant.owner.get(`/instances/${reader}/dependencies`);
      return body.reads.map((read: { upstream: string }) => read.upstream);
    };
    expect(await upstream()).toEqual(['unknown']);
    for (const size of [1, 2]) await following.redeploy('erased', { size: plain(size) });
    expect(await following.runsOf(reader)).toEqual([]);
    expect(await following.read(reader)).toMatchObject({ stopped_because: null, failure: { reason: 'not_compared' } });
    expect((await stage.tenant.owner.get(`/instances/${reader}`)).body.inputs_changed).toBe(false);
    expect(await told(author, colleague)).toEqual([couldNot('of-erased'), couldNot('of-erased')]);
    await following.redeploy('erased', {});
    expect(await upstream()).toEqual(['missing']);
    expect(await following.read(reader)).toMatchObject({ failure: { reason: 'refused' } });
  });

  test('waits if the source is transferred, reports that once, and continues once the new owner allows it', async () => {
    const there = await addProject('moved-source');
    const source = await stage.deploy({ instance: 'leaves', environment: there.environment }, { size: plain(1) });
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    const { reader } = await following.reader('of-leaves', {
      size: '${instances.moved-source/place/leaves.outputs.size}',
    });
    await follows(reader);
    const moved = await stage.tenant.owner.post(`/projects/${there.project}/transfer`, { team_id: otherTeam });
    expect(moved.status, moved.text).toBe(200);
    const change = async (size: number) => {
      const place = { environment_id: there.environment, instance: 'leaves' };
      const { body } = await stage.ask({}, place);
      await stage.finish(body.id, { size: plain(size) });
      await following.ended(body.id);
      return body.id;
    };
    await change(2);
    const last = await change(3);
    expect(await following.read(reader)).toMatchObject({ stopped_because: null, failure: { reason: 'source_ended' } });
    expect(await told(author, colleague, viewer)).toEqual([couldNot('of-leaves'), couldNot('of-leaves'), []]);
    await stage.allow(source, { environment_ids: [stage.tenant.environment] });
    await following.happened('instance.readers_changed', source);
    expect(await following.runsOf(reader)).toMatchObject([{ source: last }]);
    expect((await following.read(reader)).failure).toBeNull();
  });

  test.each(['taken back', 'destroyed', 'deleted'])('reports that the source was %s', async (what) => {
    const name = what.replace(' ', '-');
    const { source, reader } = await following.pair(name);
    await follows(reader);
    if (what === 'taken back') {
      await stage.allow(source, {});
      await following.happened('instance.readers_changed', source);
    } else {
      const place = { environment_id: stage.shared, instance: name };
      const { body } = await stage.ask({}, { ...place, operation: 'destroy', despite_dependents: true });
      await stage.finish(body.id);
      if (what === 'destroyed') await following.ended(body.id);
      await stage.api.rows('update instances set resource_count = 0 where id = ?', [source]);
      await stage.api.rows('delete from instance_resources where instance_id = ?', [source]);
      const remove = () => stage.tenant.owner.send('DELETE', `/instances/${source}`, { despite_dependents: true });
      if (what === 'deleted') expect((await remove()).status).toBe(204);
      if (what === 'deleted') await following.happened('instance.deleted', source);
    }
    expect(await following.runsOf(reader)).toEqual([]);
    expect(await following.read(reader)).toMatchObject({ stopped_because: null, failure: { reason: 'source_ended' } });
    expect(await told(author, colleague, viewer)).toEqual([couldNot(`of-${name}`), couldNot(`of-${name}`), []]);
  });

  test('delivers events that end it by the outbox', async () => {
    const { source } = await following.pair('outbox');
    await stage.allow(source, {});
    const rows = await stage.api.rows(
      `select 1 from outbox o join domain_events e on e.id::text = o.payload->>'event_id' where o.subscriber = 'following' and e.type = 'instance.readers_changed' and e.subject_id = ?`,
      [source],
    );
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe('a run that a change of outputs started', () => {
  test('creates notifications for all who may start it if it fails, and for its requester if it succeeds', async () => {
    const { reader } = await following.pair('failing');
    await follows(reader);
    await following.redeploy('failing', { size: plain(2) });
    const [first] = await following.runsOf(reader);
    await told();
    const attempt = executing(await stage.steps.next({ runId: first?.id ?? '' }));
    await stage.steps.claim(attempt, stage.worker, 'none');
    await stage.steps.complete(attempt, { outcome: 'failed', reason: 'plan_failed' });
    await stage.steps.next({ runId: first?.id ?? '', executed: attempt });
    const failed = [expect.stringMatching(/^The apply run of of-failing in .+ failed/)];
    expect(await told(author, colleague, viewer)).toEqual([failed, failed, []]);
    await following.redeploy('failing', { size: plain(3) });
    const runs = await following.runsOf(reader);
    await stage.finish(runs.at(-1)?.id ?? '');
    expect(await told(author, colleague)).toEqual([[expect.stringMatching(/succeeded/)], []]);
  });
});
