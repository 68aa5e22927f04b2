import type { Em } from '#database/database.ts';
import type { Compilable } from '#database/queries.ts';
import { db } from '#domain/db.ts';

/** The latest pieces of evidence of a finding that are kept, beside the first one and those by which somebody decided. */
const keptEvidence = 50;
/** A scan adds at most half as many, so findings from before this rule come down to it as well, and no scan removes everything at once. */
const maxAtOnce = 10_000;

/** Removes what is too much of the evidence of findings that have got new evidence. The caller has locked their monitor. */
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

/** Marks evidence by which somebody decides: a suppression or a remediation names it, so it is kept as long as its finding. */
export function citeEvidence(em: Em, id: string): Compilable<unknown> {
  return db(em).updateTable('drift_evidence').set({ cited: true }).where('id', '=', id);
}
