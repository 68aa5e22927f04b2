import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Topic } from '#domain/news/model.ts';
import { matchesTopic } from '#domain/news/topics.ts';
import { channelSecrets } from '#domain/notification-channels/secrets.ts';
import { findChannel } from '#domain/notification-channels/store.ts';
import { findSubscribedChannels, isStillSubscribed } from '#domain/notification-channels/subscription-matches-store.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { oddPatterns, oddTypes } from '#test/support/notifications/patterns.ts';

/** The limits, times and patterns of notification channels. */
let api: TestApi;
let admin: ApiUser;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

const mail = (count = 1) => ({
  kind: 'email',
  config: { recipients: Array.from({ length: count }, (_, index) => `person-${index}@example.com`) },
});
const times = <T>(count: number, each: T): T[] => Array.from({ length: count }, () => each);

it.each([
  ['20 recipients', mail(20), 201],
  ['21 recipients', mail(21), 400],
  ['50 subscriptions', { ...mail(), subscriptions: times(50, { events: ['*'] }) }, 201],
  ['51 subscriptions', { ...mail(), subscriptions: times(51, { events: ['*'] }) }, 400],
  ['a subscription of 20 patterns', { ...mail(), subscriptions: [{ events: times(20, 'run.*') }] }, 201],
  ['a subscription of 21 patterns', { ...mail(), subscriptions: [{ events: times(21, 'run.*') }] }, 400],
])('creating a channel with %s is accepted up to the limit and refused beyond it', async (_what, body, status) => {
  expect((await admin.post('/admin/notification-channels', { name: 'On call', ...body })).status).toBe(status);
});

it.each([
  ['23 hours 50 minutes', true],
  ['24 hours 10 minutes', false],
])('the previous secret still signs %s after a rotation: %s', async (time, stillSigns) => {
  const { id, secret, path } = await makeChannel(admin, { kind: 'webhook', config: { url: 'https://1.1.1.1/' } });
  expect((await admin.post(`${path}/rotate`, {})).status).toBe(200);
  await api.rows('update notification_channels set previous_until = previous_until - ?::interval where id = ?', [
    time,
    id,
  ]);
  const { orm, keyRing } = api.services;
  const target = await findChannel(orm.em.fork(), id);
  const secrets = target ? channelSecrets.open(keyRing, target.channel) : [];
  expect(secrets).toHaveLength(stillSigns ? 2 : 1);
  expect(secrets.includes(secret ?? '')).toBe(stillSigns);
});

it('the SQL that finds the channels for a topic matches patterns as `matchesTopic` does', async () => {
  await api.rows('delete from notification_channels');
  const patternOf = new Map<string, string>();
  for (const pattern of oddPatterns) {
    const { id } = await makeChannel(admin, mail());
    await api.rows('update channel_subscriptions set events = ?::jsonb where channel_id = ?', [
      JSON.stringify([pattern]),
      id,
    ]);
    patternOf.set(id, pattern);
  }
  const em = api.services.orm.em.fork();
  const place = { organizationId: null, teamId: null, projectId: null, environmentId: null };
  for (const type of oddTypes) {
    const topic = type as Topic;
    const found = await findSubscribedChannels(em, { topic, place, at: undefined });
    const hearing = found.map(({ id }) => patternOf.get(id)).sort();
    expect(hearing, type).toEqual(oddPatterns.filter((pattern) => matchesTopic(pattern, type)).sort());
    for (const [id, pattern] of patternOf)
      expect(await isStillSubscribed(em, id, topic, place), `${pattern} ${type}`).toBe(matchesTopic(pattern, type));
  }
});
