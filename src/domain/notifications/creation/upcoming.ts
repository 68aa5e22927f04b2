import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Em } from '#database/database.ts';
import { mayPass } from '#database/errors.ts';
import { db } from '#domain/db.ts';
import { inPlace } from '#domain/news/place-words.ts';
import { findExpiring } from '#domain/runs/admission/expiry/expiry-store.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { everyRow, type IdPage } from '#domain/shared/paging/every-row.ts';
import { findTeamMembers } from './candidates-store.ts';
import { type Draft, type EnabledMedia, notify } from './drafts.ts';

const pageSize = 200;

/** Finds things that end soon, a page at a time by id. */
type Finder = (em: Em, page: IdPage) => Promise<{ readonly id: string; readonly draft: () => Promise<Draft> }[]>;

/**
 * Notifies owners of things that end soon: each user once for each end, even if this runs repeatedly. Returns how many users were notified.
 * If one notification fails, it logs that and continues with the others; the next call tries it again.
 */
export async function notifyOfUpcomingEnds(em: Em, how: EnabledMedia, log: Pick<Logger, 'error'>): Promise<number> {
  let notified = 0;
  for (const find of [findEndingKeys, findEndingSuppressions, findEndingInstances]) {
    for await (const { id, draft } of everyRow((page) => find(em, page), pageSize)) {
      try {
        notified += await notify(em, await draft(), how);
      } catch (error) {
        if (mayPass(error)) throw error;
        log.error({ err: error, id }, 'could not notify owners of an upcoming expiry; it will be tried again');
      }
    }
  }
  return notified;
}

/** Keys that expire within a week. A key with a lifetime of less than a week is not announced. */
const findEndingKeys: Finder = async (em, { after, limit }) => {
  const rows = await db(em)
    .selectFrom('api_keys as k')
    .innerJoin('principals as p', 'p.id', 'k.principalId')
    .leftJoin('service_accounts as a', 'a.id', 'k.principalId')
    .where('k.id', '>', after)
    .where('k.revokedAt', 'is', null)
    .where('p.deletedAt', 'is', null)
    .where((eb) => sql<boolean>`${eb.ref('k.expiresAt')} between now() and now() + interval '7 days'`)
    .where((eb) => sql<boolean>`${eb.ref('k.createdAt')} < ${eb.ref('k.expiresAt')} - interval '7 days'`)
    .select(['k.id', 'k.name', 'k.expiresAt as at', 'p.id as principalId', 'p.kind', 'p.name as principal'])
    .select(['a.ownerUserId as userId', 'a.ownerTeamId as teamId'])
    .orderBy('k.id')
    .limit(limit)
    .execute();
  return rows.map(({ id, name, at, principalId, kind, principal, userId, teamId }) => ({
    id,
    draft: async (): Promise<Draft> => ({
      kind: 'api_key.expiring',
      subject: { kind: 'api_key', id },
      title:
        kind === 'service_account'
          ? `The key ${name} of the service account ${principal} expires on ${dayOf(at)}`
          : `Your key ${name} expires on ${dayOf(at)}`,
      cause: `api_key.expiring ${id} ${at}`,
      candidates: kind === 'user' ? [principalId] : userId ? [userId] : await findTeamOwners(em, teamId),
    }),
  }));
};

/** Suppressions of drift findings that end within a day. */
const findEndingSuppressions: Finder = async (em, { after, limit }) => {
  const rows = await db(em)
    .selectFrom('drift_findings as f')
    .innerJoin('drift_monitors as m', 'm.id', 'f.monitorId')
    .where('f.id', '>', after)
    .where('f.status', '=', 'suppressed')
    .where('m.deletedAt', 'is', null)
    .where((eb) => sql<boolean>`${eb.ref('f.suppressedUntil')} between now() and now() + interval '1 day'`)
    .select(['f.id', 'f.address', 'f.teamId', 'f.suppressedUntil as at'])
    .orderBy('f.id')
    .limit(limit)
    .execute();
  return rows.map(({ id, address, teamId, at }) => ({
    id,
    draft: async (): Promise<Draft> => ({
      kind: 'drift_finding.suppression_ending',
      subject: { kind: 'drift_finding', id },
      title: `The suppression of drift in ${address} ends on ${dayOf(at)}`,
      cause: `drift_finding.suppression_ending ${id} ${at}`,
      candidates: await findTeamMembers(em, teamId),
    }),
  }));
};

/** Instances that the service destroys within a day. Instances with a time to live of less than a day are not announced. */
const findEndingInstances: Finder = async (em, page) => {
  const rows = await findExpiring(em, page);
  return rows.map(({ id, name, teamId, at, ...place }) => ({
    id,
    draft: async (): Promise<Draft> => ({
      kind: 'instance.expiring',
      subject: { kind: 'instance', id },
      title: `${inPlace(name, place)} is destroyed on ${dayOf(at)}, because its time to live ends`,
      cause: `instance.expiring ${id} ${at}`,
      candidates: await findTeamMembers(em, teamId),
    }),
  }));
};

async function findTeamOwners(em: Em, teamId: string | null): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('team_members')
    .where('teamId', '=', teamId ?? zeroId)
    .where('role', '=', 'owner')
    .select('principalId as id')
    .execute();
  return rows.map(({ id }) => id);
}

/** A time in UTC to the minute. */
function dayOf(at: string | null): string {
  return at === null ? 'an unknown day' : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
