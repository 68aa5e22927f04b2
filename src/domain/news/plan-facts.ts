import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { countsInWords } from '#domain/runs/plans/counts-in-words.ts';
import { completeSummary, type StoredSummary } from '#domain/runs/plans/model.ts';

/** The facts about the plan of a run for messages. */
interface PlanNames {
  readonly summary: StoredSummary;
  /** The first outputs that change. */
  readonly outputs: readonly string[];
  /** The addresses of the first checks that fail. */
  readonly checks: readonly string[];
}

/** The maximum number of outputs and checks that a message names; the page of the plan shows all. */
const maxNamed = 5;

/** What the plan of a run would do, in sentences; none if the run has no plan. */
export async function findPlanFacts(em: Em, runId: string): Promise<string[]> {
  const names = await db(em)
    .selectFrom('runs as r')
    .leftJoin('run_plans as plan', 'plan.runId', 'r.id')
    .where('r.id', '=', runId)
    .where('r.planSummary', 'is not', null)
    .select('r.planSummary as summary')
    .select([firstOf('outputs', 'name'), firstOf('checks', 'address', sql`each ->> 'status' in ('fail', 'error')`)])
    .executeTakeFirst();
  return names?.summary ? describePlan({ ...names, summary: names.summary }) : [];
}

/** The database picks the names, because the sections of a plan may have megabytes. */
function firstOf<Name extends 'outputs' | 'checks'>(section: Name, member: string, condition = sql`true`) {
  return sql<string[]>`coalesce((select jsonb_agg(named.name) from (
    select each ->> ${sql.lit(member)} as name from jsonb_array_elements(plan.sections -> ${sql.lit(section)}) as each
    where ${condition} limit ${sql.lit(maxNamed)}) as named), '[]')`.as(section);
}

export function describePlan({ summary, outputs, checks }: PlanNames): string[] {
  const counts = completeSummary(summary);
  return [
    `The plan: ${countsInWords(summary)}.`,
    ...named('Outputs that change', outputs, counts.outputs),
    ...named('Checks that fail', checks, counts.checks),
  ];
}

function named(label: string, names: readonly string[], count: number): string[] {
  if (names.length === 0) return [];
  const more = count - names.length;
  return [`${label}: ${names.join(', ')}${more > 0 ? ` (and ${more} more)` : ''}`];
}
