import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { ApprovedAction, ApprovedExecution } from './model.ts';

/** The ceiling of an installation: its approved actions and executions. */
export interface CeilingDetails {
  readonly release: string;
  readonly installationRevision: number;
  readonly actions: ApprovedAction[];
  readonly executions: ApprovedExecution[];
  readonly revision: number;
  readonly setAt: string;
  readonly setBy: string;
}

/** The ceiling of an installation; undefined if nobody has set one, which approves nothing. */
export function findCeiling(em: Em, installationId: string): Promise<CeilingDetails | undefined> {
  return db(em)
    .selectFrom('plugin_ceilings as c')
    .where('c.installationId', '=', installationId)
    .select(['c.release', 'c.installationRevision', 'c.actions', 'c.executions'])
    .select(['c.revision', 'c.setAt', 'c.setBy'])
    .executeTakeFirst();
}

/** Whether a ceiling `c` is that of the active release and the present revision of an installation `i`. */
export const isCurrentCeiling = sql<SqlBool>`(
  c.installation_id = i.id and c.release = i.active_release and c.installation_revision = i.revision)`;
