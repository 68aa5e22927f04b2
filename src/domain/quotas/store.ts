import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { Limits, QuotaScope, QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { readLimits } from './limits/limits.ts';

/** A quota as it is stored. Times are strings. */
export interface QuotaDetails extends QuotaSubject {
  /** The name of its owner; null: the installation. */
  readonly name: string | null;
  /** Null: the stored limits are damaged. */
  readonly limits: Limits | null;
  readonly revision: number;
  readonly updatedAt: string;
}

function selectQuotas(em: Em) {
  return db(em)
    .selectFrom('quotas as q')
    .leftJoin('organizations as o', 'o.id', 'q.organizationId')
    .leftJoin('teams as t', 't.id', 'q.teamId')
    .leftJoin('environments as e', 'e.id', 'q.environmentId')
    .where('q.clearedAt', 'is', null)
    .select(['q.id', 'q.scope', 'q.limits', 'q.revision', 'q.updatedAt'])
    .select(sql<string>`coalesce(q.organization_id, q.team_id, q.environment_id)::text`.as('ownerId'))
    .select((eb) => eb.fn.coalesce('o.name', 't.name', 'e.name').as('name'));
}

type QuotaRow = Awaited<ReturnType<ReturnType<typeof selectQuotas>['executeTakeFirstOrThrow']>>;

function toDetails({ scope, ownerId, name, limits, revision, updatedAt }: QuotaRow): QuotaDetails {
  return { scope, id: ownerId ?? 'global', name, limits: readLimits(limits), revision, updatedAt };
}

/** The quota of an owner; undefined if it has none. */
export async function readQuota(em: Em, subject: QuotaSubject): Promise<QuotaDetails | undefined> {
  const row = await selectQuotas(em).where(isQuotaOf(subject)).executeTakeFirst();
  return row && toDetails(row);
}

/** The condition that a row `q` is the quota of a subject. */
function isQuotaOf({ scope, id }: QuotaSubject) {
  if (scope === 'installation') return sql<boolean>`q.scope = 'installation'`;
  return sql<boolean>`${sql.ref(`q.${scope}_id`)} = ${id}::uuid`;
}

/** A page of all quotas, the newest first. */
export async function listQuotas(
  em: Em,
  { scope, ...request }: PageRequest & { readonly scope?: QuotaScope | undefined },
): Promise<Page<QuotaDetails>> {
  const all = selectQuotas(em);
  const page = await pageOf(scope === undefined ? all : all.where('q.scope', '=', scope), 'q.id', request);
  return { items: page.items.map(toDetails), nextCursor: page.nextCursor };
}
