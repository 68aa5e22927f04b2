import type { MonthlyRetention } from '#domain/shared/retention/monthly-retention.ts';

/** Expired records of a month that is not removed yet are no longer shown (`store.ts`). */
export const auditRetention: MonthlyRetention = { table: 'audit_records', action: 'audit_records.expired' };
