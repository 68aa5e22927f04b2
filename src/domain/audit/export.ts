import type { Em } from '#database/database.ts';
import type { AuditFilter, AuditRecord } from './model.ts';
import { readOnwards } from './records.ts';

const pageSize = 500;
/** A refusal's row is a transaction of one statement, which has no number yet when it takes its time. */
const statementSeconds = 1;

export interface Export {
  /** Everything that happened before is in it; later commands may still have been at work. The next one begins here. */
  readonly completeUntil: string;
  readonly pages: AsyncGenerator<AuditRecord[]>;
}

/**
 * The records of a filter up to now, oldest first. Read a page at a time, as the reader takes them: between two pages
 * nothing is held, neither transaction nor connection, so a slow reader costs no more than a fast one.
 */
export async function openExport(em: Em, filter: AuditFilter, retentionDays: number | null): Promise<Export> {
  const { now, settled } = await readHorizon(em);
  const to = earlier(filter.to, now);
  return { completeUntil: earlier(to, settled), pages: readPages(em, { ...filter, to }, retentionDays) };
}

async function* readPages(em: Em, filter: AuditFilter, retentionDays: number | null): AsyncGenerator<AuditRecord[]> {
  let after: AuditRecord | null = null;
  for (;;) {
    const page: AuditRecord[] = await readOnwards(em, filter, retentionDays, { after, limit: pageSize });
    if (page.length > 0) yield page;
    after = page.at(-1) ?? null;
    if (page.length < pageSize) return;
  }
}

/**
 * Now, and since when there may be rows that nobody sees yet: a row's time is taken inside its transaction, so none that
 * is still to come is older than the oldest transaction that writes.
 */
async function readHorizon(em: Em): Promise<{ now: string; settled: string }> {
  const [row] = await em.execute<[{ now: Date | string; settled: Date | string }]>(
    `select clock_timestamp() as now, least(clock_timestamp() - make_interval(secs => ?), min(xact_start)) as settled
       from pg_stat_activity where datname = current_database() and backend_xid is not null`,
    [statementSeconds],
  );
  return { now: new Date(row.now).toISOString(), settled: new Date(row.settled).toISOString() };
}

function earlier(one: string | undefined, other: string): string {
  return one !== undefined && Date.parse(one) < Date.parse(other) ? new Date(one).toISOString() : other;
}
