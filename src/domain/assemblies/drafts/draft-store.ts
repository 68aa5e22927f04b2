import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** The draft of an assembly, for those who may change it. */
export interface Draft {
  readonly revision: number;
  /** The text that the author wrote, in YAML or JSON. */
  readonly source: string;
  /** The parsed text. It need not be a valid spec. */
  readonly spec: JsonValue;
  readonly changedBy: { readonly id: string; readonly name: string };
  readonly changedAt: string;
}

/** The draft of an assembly; undefined if nobody has saved one yet. */
export async function readDraft(em: Em, assemblyId: string): Promise<Draft | undefined> {
  const row = await db(em)
    .selectFrom('assemblies as a')
    .where('a.id', '=', assemblyId)
    .select(['a.draftRevision as revision', 'a.draftSource as source', 'a.draftSpec as spec'])
    .select('a.draftChangedAt as changedAt')
    .select((eb) => {
      const name = eb.selectFrom('principals as p').whereRef('p.id', '=', 'a.draftChangedBy').select('p.name');
      return sql<Draft['changedBy']>`
        jsonb_build_object('id', ${eb.ref('a.draftChangedBy')}, 'name', coalesce(${name}, ''))`.as('changedBy');
    })
    .executeTakeFirst();
  if (!row || row.source === null || row.changedAt === null) return undefined;
  return { ...row, source: row.source, changedAt: row.changedAt, spec: row.spec };
}
