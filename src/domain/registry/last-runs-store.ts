import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { inIndexGroup, orderOfGroup } from '#domain/shared/index-range.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';

/** The newest run of a template that somebody may read. */
export interface LastRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly statusReason: string | null;
  readonly waitingOn: WaitingOn | null;
  readonly createdAt: string;
}

/** How many of the newest runs of a template are searched, since other tenants may have used it a million times. */
const searched = 200;

const runsOfTemplate = { columns: ['r.templateId'], values: [sql.ref('t.id')], id: 'r.id' };

/** The newest run of each template that the principal may read, by the template's id. */
export async function readLastRuns(
  em: Em,
  principal: Principal,
  templateIds: readonly string[],
): Promise<ReadonlyMap<string, LastRun>> {
  if (templateIds.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('templates as t')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom(
            eb
              .selectFrom('runs as r')
              .where(inIndexGroup(runsOfTemplate))
              .where('r.deletedAt', 'is', null)
              .where('r.operation', '<>', sql.lit('scan' as const))
              .select(['r.id', 'r.status', 'r.statusReason', 'r.waitingOn', 'r.createdAt', 'r.teamId'])
              .orderBy(orderOfGroup(runsOfTemplate))
              .limit(searched)
              .as('newest'),
          )
          .where((of) => isInReadableTeam(principal, of.ref('newest.teamId'), 'visible'))
          .select(['newest.id', 'newest.status', 'newest.statusReason', 'newest.waitingOn', 'newest.createdAt'])
          .orderBy('newest.id', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .where('t.id', 'in', templateIds)
    .select(['t.id as templateId', 'last.id', 'last.status', 'last.statusReason', 'last.waitingOn', 'last.createdAt'])
    .execute();
  return new Map(rows.map(({ templateId, ...run }) => [templateId, run as LastRun]));
}
