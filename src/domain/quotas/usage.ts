import type { Em } from '#database/database.ts';
import { kindsOf, type Limits, type QuotaKind, type QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { countUse } from './use/usage-store.ts';

/** How much of one kind is used; null: the records contradict each other, and a recount repairs them. */
export interface Usage {
  readonly kind: QuotaKind;
  /** Null: it is not limited. */
  readonly limit: number | null;
  readonly used: number | null;
}

/** What an owner uses, either of all kinds or only of the limited ones. */
export function readUsage(em: Em, subject: QuotaSubject, limits: Limits | null, which: 'all' | 'limited') {
  const kinds = kindsOf(subject.scope).filter((kind) => which === 'all' || typeof limits?.[kind] === 'number');
  return Promise.all(
    kinds.map(async (kind): Promise<Usage> => {
      const used = await countUse(em, subject, kind);
      return { kind, limit: limits?.[kind] ?? null, used: used < 0 ? null : used };
    }),
  );
}
