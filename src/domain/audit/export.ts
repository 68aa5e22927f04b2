import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { AuditFilter, AuditRecord } from './model.ts';
import { auditScopeOf, showTo } from './scope.ts';
import { readHorizon, selectRecords } from './store.ts';

const pageSize = 500;
/** Refusals are written in single-statement transactions, which get an id only when they write. This margin covers them. */
const statementSeconds = 1;

export interface Export {
  /**
   * The export contains every record from before this time; later commands may not have been committed yet. The next export begins here.
   */
  readonly completeUntil: string;
  readonly pages: AsyncGenerator<AuditRecord[]>;
}

/**
 * The records of a filter up to now that a reader may see, oldest first. Each page is read when the reader asks for it. Between pages no
 * transaction and no connection is open, so a slow reader costs no more than a fast one.
 */
export async function openExport(
  em: Em,
  reader: Principal,
  filter: AuditFilter,
  retentionDays: number | null,
): Promise<Export> {
  const { now, settled } = await readHorizon(em, statementSeconds);
  const to = earlier(filter.to, now);
  return { completeUntil: earlier(to, settled), pages: readPages(em, reader, { ...filter, to }, retentionDays) };
}

async function* readPages(
  em: Em,
  reader: Principal,
  filter: AuditFilter,
  retentionDays: number | null,
): AsyncGenerator<AuditRecord[]> {
  const scope = auditScopeOf(reader);
  let from: AuditRecord | null = null;
  for (;;) {
    const page: AuditRecord[] = await selectRecords(em, {
      filter,
      scope,
      retentionDays,
      direction: 'newer',
      from,
      limit: pageSize,
    });
    if (page.length > 0) yield page.map((record) => showTo(reader, record));
    from = page.at(-1) ?? null;
    if (page.length < pageSize) return;
  }
}

function earlier(one: string | undefined, other: string): string {
  return one !== undefined && Date.parse(one) < Date.parse(other) ? new Date(one).toISOString() : other;
}
