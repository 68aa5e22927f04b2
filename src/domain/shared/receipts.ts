import { credentialCounts, type Principal } from './access/principal.ts';
import type { Em } from './database.ts';
import { Unauthenticated } from './errors.ts';

/** What is known of a command that was committed: never more than its receipt kept. */
export interface RecordedReceipt {
  readonly key: string;
  readonly operation: string;
  readonly status: number;
  readonly location: string | null;
  readonly resourceId: string | null;
  readonly revision: number | null;
  readonly auditRecordId: string;
  readonly createdAt: string;
}

/**
 * The receipt of a principal's own command, whatever has become of what it was about; undefined where this snapshot has
 * none, which is no proof that there will be none. Principal and credential are judged in the same snapshot. A key of
 * somebody else's is answered as one that nobody used. (specification, *Original-key outcome and command keys*, rules 4, 5)
 * @throws Unauthenticated where the credential counts no more
 */
export async function readOwnReceipt(em: Em, caller: Principal, key: string): Promise<RecordedReceipt | undefined> {
  const { type, id } = caller.credential;
  const rows = await em.execute<(RecordedReceipt | { key: null })[]>(
    `select r.key, r.operation, r.status, r.location, r.resource_id as "resourceId", r.revision,
            r.audit_record_id as "auditRecordId", r.created_at as "createdAt"
       from principals p left join command_receipts r on r.principal_id = p.id and r.key = ?
      where p.id = ? and p.enabled and p.deleted_at is null and ${credentialCounts[type]}`,
    [key, caller.id, id],
  );
  const [row] = rows;
  if (!row) throw new Unauthenticated('the credential is no longer valid');
  return row.key === null ? undefined : row;
}
