import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { OwnerIds } from '#domain/owners/owner.ts';
import { newId } from '#domain/shared/ids.ts';
import { ChannelSubscription } from './entity.ts';
import type { Subscription } from './model.ts';

/** The subscriptions of a channel, in the order of the request. */
export function readSubscriptions(em: Em, channelId: string): Promise<Subscription[]> {
  return db(em)
    .selectFrom('channel_subscriptions')
    .where('channelId', '=', channelId)
    .select(['teamId', 'environmentId', 'events'])
    .orderBy('id')
    .execute();
}

/** Replaces the subscriptions of a channel. The caller has locked the channel, and holds share locks on the places that they name. */
export async function writeSubscriptions(em: Em, channelId: string, wanted: readonly Subscription[]): Promise<void> {
  await db(em).deleteFrom('channel_subscriptions').where('channelId', '=', channelId).execute();
  for (const { teamId, environmentId, events } of wanted)
    em.persist(em.create(ChannelSubscription, { id: newId(), channelId, teamId, environmentId, events: [...events] }));
  await em.flush();
}

/**
 * Which of these teams and environments exist at or below an owner; the installation owns all of them. It takes share locks on their rows
 * until the commit.
 */
export async function findPlacesBelow(
  em: Em,
  owner: OwnerIds,
  wanted: { readonly teamIds: readonly string[]; readonly environmentIds: readonly string[] },
): Promise<ReadonlySet<string>> {
  const { organizationId, teamId, projectId } = owner;
  // A project owns no team.
  const teams = db(em)
    .selectFrom('teams as t')
    .where('t.deletedAt', 'is', null)
    .where((eb) => eb('t.id', '=', eb.fn.any(eb.val(projectId ? [] : [...wanted.teamIds]))))
    .$if(Boolean(teamId), (query) => query.where('t.id', '=', teamId ?? ''))
    .$if(Boolean(organizationId), (query) => query.where('t.organizationId', '=', organizationId ?? ''));
  const environments = db(em)
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .where('e.deletedAt', 'is', null)
    .where((eb) => eb('e.id', '=', eb.fn.any(eb.val([...wanted.environmentIds]))))
    .$if(Boolean(projectId), (query) => query.where('p.id', '=', projectId ?? ''))
    .$if(Boolean(teamId), (query) => query.where('t.id', '=', teamId ?? ''))
    .$if(Boolean(organizationId), (query) => query.where('t.organizationId', '=', organizationId ?? ''));
  const foundTeams = await lockRows(teams.select('t.id').orderBy('t.id'), ['t'], true).execute();
  const foundEnvironments = await lockRows(environments.select('e.id').orderBy('e.id'), ['e'], true).execute();
  return new Set([...foundTeams, ...foundEnvironments].map(({ id }) => id));
}
