import type { Em } from '#database/database.ts';
import type { Compilable } from '#database/queries.ts';
import { db } from '#domain/db.ts';

/** How many of the latest pieces of evidence of a finding are kept, besides the first one and the cited ones. */
const keptEvidence = 50;
/**
 * The maximum that one scan removes. A scan adds at most half as many, so findings of earlier releases shrink to the limit too, over
 * several scans.
 */
const maxAtOnce = 10_000;

/** Removes evidence beyond the limit from findings with new evidence. The caller has locked their monitor. */
export async function forgetEvidence(em: Em, findingIds: readonly string[]): Promise<void> {
  if (findingIds.length === 0) return;
  await db(em)
    .deleteFrom('drift_evidence')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('drift_findings as f')
        .innerJoinLateral(
          (of) =>
            of
              .selectFrom('drift_evidence as e')
              .whereRef('e.findingId', '=', 'f.id')
              .orderBy('e.id', 'desc')
              .offset(keptEvidence)
              .select(['e.id', 'e.cited'])
              .as('old'),
          (join) => join.onTrue(),
        )
        .where('f.id', '=', (of) => of.fn.any(of.val(findingIds)))
        .where('old.cited', '=', false)
        .whereRef('old.id', '<>', 'f.evidenceId')
        .where('old.id', '>', (of) =>
          of
            .selectFrom('drift_evidence as first')
            .whereRef('first.findingId', '=', 'f.id')
            .orderBy('first.id')
            .limit(1)
            .select('first.id'),
        )
        .select('old.id')
        .limit(maxAtOnce),
    )
    .execute();
}

/** Marks evidence that a suppression or a remediation names, so that it is kept as long as its finding. */
export function citeEvidence(em: Em, id: string): Compilable<unknown> {
  return db(em).updateTable('drift_evidence').set({ cited: true }).where('id', '=', id);
}
