import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { emailKey } from '#domain/identity/model.ts';
import { isKnownTo } from '#domain/members/people-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInRetention } from './filter-store.ts';
import { auditScopeOf } from './scope.ts';

/** The maximum number of principals with the same name that are returned. */
const maxCalled = 20;

/**
 * The ids of the principals with this full name, ignoring case, that the reader may know or whose records the reader may see. They may be
 * people, service accounts and background principals, even deleted ones. An e-mail address finds only people whom the reader may know,
 * because records do not show it. Other principals do not count towards the limit.
 * @param retentionDays older records are ignored; null: all count
 */
export async function findActorsCalled(
  em: Em,
  reader: Principal,
  text: string,
  retentionDays: number | null,
): Promise<string[]> {
  const found = db(em)
    .selectFrom('principals as p')
    .leftJoin('users as u', 'u.id', 'p.id')
    .where((eb) => {
      const principals = eb as unknown as Over<{ p: 'principals' }>;
      const hasName = eb(sql`lower(p.name)`, '=', text.toLowerCase());
      const isKnown = isKnownTo(em, reader, principals, { withManaged: true });
      return eb.or([
        eb.and([eb.or([hasName, eb('u.emailKey', '=', emailKey(text))]), isKnown]),
        eb.and([hasName, hasVisibleRecord(principals, reader, retentionDays)]),
      ]);
    })
    .select('p.id')
    .orderBy('p.id')
    .limit(maxCalled);
  // The statement is not prepared, like all reads of records (`selectRecords`).
  const { rows } = await sql<{ id: string }>`select * from ${found} found`.execute(db(em));
  return rows.map(({ id }) => id);
}

/** Whether the reader may see a record of what a principal did. */
function hasVisibleRecord(
  eb: Over<{ p: 'principals' }>,
  reader: Principal,
  retentionDays: number | null,
): Expression<SqlBool> {
  const scope = auditScopeOf(reader);
  const records = eb
    .selectFrom('audit_records as r')
    .whereRef('r.actorId', '=', 'p.id')
    .where((of) => isInRetention(of as unknown as Over<{ r: 'audit_records' }>, retentionDays))
    .select('r.id');
  if (scope === 'all') return eb.exists(records);
  const { actors, organizations, teams } = scope;
  return eb.exists(
    records.where((of) =>
      of.or([
        of('r.actorId', '=', of.fn.any(of.val([...actors]))),
        of('r.organizationId', '=', of.fn.any(of.val([...organizations]))),
        of('r.teamId', '=', of.fn.any(of.val([...teams]))),
      ]),
    ),
  );
}
