import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';
import { findFinding } from './finding-target.ts';
import { publishTransition } from './publish.ts';
import { expire } from './transitions.ts';

/** The next findings, by id, whose suppression has expired. Findings of deleted monitors are left out. */
export function findExpiredSuppressions(em: Em, { after, limit }: IdPage): Promise<{ id: string }[]> {
  return db(em)
    .selectFrom('drift_findings as f')
    .innerJoin('drift_monitors as m', 'm.id', 'f.monitorId')
    .where('m.deletedAt', 'is', null)
    .where((eb) => sql<boolean>`${eb.ref('f.suppressedUntil')} <= clock_timestamp()`)
    .where('f.id', '>', after)
    .orderBy('f.id')
    .limit(limit)
    .select('f.id')
    .execute();
}

/** Ends a suppression that has expired. Repeating it is harmless. */
export async function endSuppression(deps: SystemCommandDeps, id: string): Promise<void> {
  const command = { action: 'drift_finding.suppression_ended', target: { id }, cause: null } as const;
  await runSystemCommand(deps, command, {
    find: (tx) => findFinding(tx.em, id, true),
    act: async (tx, _caller, target) => {
      const finding = target?.finding;
      if (!finding?.suppressedUntil || finding.suppressedUntil > new Date()) throw new NothingToDo();
      const wasSuppressed = finding.status === 'suppressed';
      finding.follow(expire(finding.state(), new Date()));
      if (wasSuppressed) publishTransition(tx, finding, null);
      return { id, after: { status: finding.status }, revision: finding.revision };
    },
  });
}
