import { type Kysely, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { lockForChange, type RowLock } from '#database/row-lock.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { findRowOwner, type OwnerIds, type RowOwner } from '#domain/owners/owner.ts';
import { isOfOwner, isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { PlacedSubscription } from './coverage.ts';
import { NotificationChannel } from './entity.ts';
import type { ChannelDisabledReason, ChannelKind } from './model.ts';

/** A channel with its owner. */
export interface ChannelTarget extends RowOwner {
  readonly channel: NotificationChannel;
}

/** A channel by its id; undefined if it or its owner is deleted. With `lock` it locks the rows of the owner, then its own. */
export async function findChannel(em: Em, id: string, lock: RowLock = false): Promise<ChannelTarget | undefined> {
  const known = await em.findOne(NotificationChannel, { id });
  const owner = known && (await findRowOwner(em, known, lock));
  const channel = owner && lock ? await lockForChange(em, NotificationChannel, { id }) : known;
  return owner && channel ? { ...owner, channel } : undefined;
}

/** A channel as its readers see it, without sealed values. */
export interface ChannelDetails extends OwnerIds {
  readonly id: string;
  readonly name: string;
  readonly kind: ChannelKind;
  readonly isEnabled: boolean;
  readonly disabledReason: ChannelDisabledReason | null;
  readonly recipients: readonly string[] | null;
  readonly host: string | null;
  readonly previousUntil: string | null;
  /** The subscriptions, without those whose place the reader may not read. */
  readonly subscriptions: readonly ShownSubscription[];
  readonly subscriptionCount: number;
  /** How many messages wait, counted up to `maxCounted`. */
  readonly waiting: number;
  readonly lastSentAt: string | null;
  /** The problem of the recipient that has failed for longest; null: the last message to each recipient was delivered. */
  readonly problem: string | null;
  readonly revision: number;
  readonly createdAt: string;
}

/** A subscription with the name of its place. */
export interface ShownSubscription extends PlacedSubscription {
  readonly name: string | null;
}

/** The maximum number of waiting messages that are counted. */
export const maxCounted = 1000;

/** A page of the channels that a principal may read. Only administrators may read those of the installation. */
export function listChannels(
  em: Em,
  principal: Principal,
  filter: OwnerIds,
  request: PageRequest,
): Promise<Page<ChannelDetails>> {
  const channels = selectChannels(db(em), principal).where((eb) => {
    const owner = {
      organization: eb.ref('c.organizationId'),
      team: eb.ref('c.teamId'),
      project: eb.ref('c.projectId'),
    };
    return eb.and([isOfReadableOwner(principal, owner, 'administrators'), isOfOwner(filter, owner)]);
  });
  return pageOf(channels, 'c.id', request);
}

/** One channel; the caller has decided that the reader may read it. */
export function readChannel(em: Em, id: string, reader: Principal): Promise<ChannelDetails | undefined> {
  return selectChannels(db(em), reader).where('c.id', '=', id).executeTakeFirst();
}

/** Addresses and secrets are never selected here, so reading needs no key. */
function selectChannels(queries: Kysely<Tables>, reader: Principal) {
  return queries
    .selectFrom('notification_channels as c')
    .select(['c.id', 'c.organizationId', 'c.teamId', 'c.projectId'])
    .select(['c.name', 'c.kind', 'c.isEnabled', 'c.disabledReason', 'c.recipients', 'c.host'])
    .select(['c.previousUntil', 'c.revision', 'c.createdAt'])
    .select((eb) => [
      jsonArrayFrom(subscriptionsOf(eb, reader)).as('subscriptions'),
      eb
        .selectFrom('channel_subscriptions as all')
        .whereRef('all.channelId', '=', 'c.id')
        .select(sql<number>`count(*)::int`.as('count'))
        .$asScalar()
        .as('subscriptionCount'),
      waitingOf(eb).as('waiting'),
      messagesOf(eb)
        .where('m.status', '=', sql.lit('sent'))
        .select((of) => of.fn.max('m.settledAt').as('at'))
        .$asScalar()
        .as('lastSentAt'),
      eb
        .selectFrom('failing_destinations as f')
        .whereRef('f.channelId', '=', 'c.id')
        .select(sql<string>`concat(f.address || ': ', f.problem)`.as('problem'))
        .orderBy('f.failingSince')
        .orderBy('f.destination')
        .limit(1)
        .$asScalar()
        .as('problem'),
    ])
    .$castTo<ChannelDetails>();
}

type OverChannel = Over<{ c: 'notification_channels' }>;

function subscriptionsOf(eb: OverChannel, reader: Principal) {
  return eb
    .selectFrom('channel_subscriptions as s')
    .leftJoin('teams as t', 't.id', 's.teamId')
    .leftJoin('environments as e', 'e.id', 's.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .whereRef('s.channelId', '=', 'c.id')
    .where((of) => {
      const team = of.fn.coalesce('s.teamId', 'p.teamId');
      return of.or([of(team, 'is', null), isInReadableTeam(reader, team, 'hidden')]);
    })
    .select(['s.teamId', 's.environmentId', 's.events'])
    .select((of) => of.fn.coalesce('s.teamId', 'p.teamId').as('placeTeamId'))
    .select(sql<string | null>`coalesce(t.name, p.name || ' / ' || e.name)`.as('name'))
    .orderBy('s.id');
}

function messagesOf(eb: OverChannel) {
  return eb.selectFrom('outgoing_messages as m').whereRef('m.channelId', '=', 'c.id');
}

function waitingOf(eb: OverChannel) {
  const pending = messagesOf(eb).where('m.status', '=', sql.lit('pending')).select('m.id').limit(maxCounted);
  return eb.selectFrom(pending.as('waiting')).select(sql<number>`count(*)::int`.as('count')).$asScalar().$notNull();
}
