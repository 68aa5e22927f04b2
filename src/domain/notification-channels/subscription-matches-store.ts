import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Topic } from '#domain/news/model.ts';
import type { Subject } from '#domain/news/subjects.ts';
import { coversOwner } from '#domain/owners/rows-store.ts';
import { findQuotaOwner } from '#domain/quotas/owner-store.ts';
import { ownerOfKind } from '#domain/shared/ownership-graph/any-owner.ts';
import type { OwnerLevel } from '#domain/shared/ownership-graph/owners.ts';
import type { ChannelKind } from './model.ts';

/** The present owners of a subject at each level; null for a level without an owner. */
export interface Place {
  readonly organizationId: string | null;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
}

const nowhere: Place = { organizationId: null, teamId: null, projectId: null, environmentId: null };

/**
 * The present place of a subject. A subject that no longer exists, or that belongs to the installation, has none. The place of a quota is
 * that of the owner that it limits.
 */
export async function findPlace(em: Em, { kind, id }: Subject): Promise<Place> {
  if (kind === 'quota') return (await findQuotaOwner(em, id)) ?? nowhere;
  const ownerAt = (level: OwnerLevel) => sql<string | null>`${ownerOfKind(level, kind, sql<string>`${id}::uuid`)}`;
  const owners = db(em)
    .selectNoFrom([
      ownerAt('organization').as('own'),
      ownerAt('team').as('teamId'),
      ownerAt('project').as('projectId'),
      ownerAt('environment').as('environmentId'),
    ])
    .as('o');
  return db(em)
    .selectFrom(owners)
    .leftJoin('teams as t', 't.id', 'o.teamId')
    .select(['o.teamId', 'o.projectId', 'o.environmentId'])
    .select((eb) => eb.fn.coalesce('t.organizationId', 'o.own').as('organizationId'))
    .executeTakeFirstOrThrow();
}

/** A channel that receives a notification. */
export interface SubscribedChannel {
  readonly id: string;
  readonly kind: ChannelKind;
  readonly recipients: readonly string[] | null;
}

/** Finds the enabled channels whose subscriptions match a topic at a place. Channels that were created after `at` are left out. */
export function findSubscribedChannels(
  em: Em,
  { topic, place, at }: { readonly topic: Topic; readonly place: Place; readonly at: string | undefined },
): Promise<SubscribedChannel[]> {
  return db(em)
    .selectFrom('notification_channels as c')
    .where((eb) => hears(eb, topic, place))
    .$if(at !== undefined, (query) => query.where('c.createdAt', '<=', at ?? ''))
    .select(['c.id', 'c.kind', 'c.recipients'])
    .orderBy('c.id')
    .$castTo<SubscribedChannel>()
    .execute();
}

/** Whether the subscriptions of a channel still match a topic at a place. */
export async function isStillSubscribed(em: Em, channelId: string, topic: Topic, place: Place): Promise<boolean> {
  const found = await db(em)
    .selectFrom('notification_channels as c')
    .where('c.id', '=', channelId)
    .where((eb) => hears(eb, topic, place))
    .select('c.id')
    .executeTakeFirst();
  return found !== undefined;
}

function hears(eb: Over<{ c: 'notification_channels' }>, topic: Topic, place: Place): Expression<SqlBool> {
  const owner = {
    organization: eb.ref('c.organizationId'),
    team: eb.ref('c.teamId'),
    project: eb.ref('c.projectId'),
  };
  const subscription = eb
    .selectFrom('channel_subscriptions as s')
    .whereRef('s.channelId', '=', 'c.id')
    .where((of) =>
      of.or([
        of.and([of('s.teamId', 'is', null), of('s.environmentId', 'is', null)]),
        of('s.teamId', '=', place.teamId),
        of('s.environmentId', '=', place.environmentId),
      ]),
    )
    .where((of) => matches(of.ref('s.events'), topic))
    .select('s.id');
  return eb.and([eb('c.isEnabled', '=', true), coversOwner(owner, place), eb.exists(subscription)]);
}

/** `matchesTopic` in SQL. */
function matches(patterns: Expression<unknown>, topic: Topic): Expression<SqlBool> {
  return sql<boolean>`exists (select from jsonb_array_elements_text(${patterns}) p
    where p = '*' or p = ${topic} or (right(p, 2) = '.*' and starts_with(${topic}::text, left(p, -1))))`;
}
