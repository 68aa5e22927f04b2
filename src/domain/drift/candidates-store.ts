import { sql } from 'kysely';
import { db } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Candidates, mayRead, noId } from '#domain/shared/naming/candidates.ts';

/** The monitors that a search finds by their names. The name of a monitor is that of what it watches, as on its page. */
export const driftMonitorCandidates: Candidates = (em, principal) =>
  db(em)
    .selectFrom('drift_monitors as m')
    .leftJoin('instances as i', 'i.id', 'm.instanceId')
    .leftJoin('environments as e', 'e.id', 'm.environmentId')
    .leftJoin('templates as w', 'w.id', 'm.templateId')
    .where('m.deletedAt', 'is', null)
    .where((eb) =>
      eb.and([mayRead(principal, 'drift_monitor:read'), isInReadableTeam(principal, eb.ref('m.teamId'), 'hidden')]),
    )
    .select(({ ref }) => [
      'm.id',
      sql<string>`concat('Monitor of ', coalesce(${ref('i.name')}, ${ref('e.name')}, ${ref('w.name')}))`.as('name'),
      sql<string | null>`coalesce(${ref('i.name')}, ${ref('e.name')}, ${ref('w.name')})`.as('otherName'),
      sql<string | null>`case when ${ref('m.instanceId')} is not null then ${ref('e.name')} end`.as('context'),
      noId.as('parentId'),
    ])
    .as('x');
