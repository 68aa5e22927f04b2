import type { Em } from '#database/database.ts';
import { auditRetention } from './audit/retention.ts';
import { isUnfinished, logRetention, planRetention } from './runs/deletion/retention.ts';
import type { RetentionKind } from './settings/document.ts';
import { keepEventNumbers } from './shared/events/retention.ts';
import type { MonthlyRetention } from './shared/retention/monthly-retention.ts';

/** The events of a run or an assembly run tell its story, and decide who reviews it, until it has ended. */
const eventRetention: MonthlyRetention = {
  table: 'domain_events',
  action: 'events.expired',
  isNeeded: async (em: Em, monthEnd) =>
    (await isUnfinished(em, 'runs', monthEnd)) || (await isUnfinished(em, 'assembly_runs', monthEnd)),
  beforeDrop: keepEventNumbers,
};

/** What is removed by months, by the name of its setting. An area that keeps something by months adds it here. */
export const monthlyRetentions = {
  audit: auditRetention,
  events: eventRetention,
  run_logs: logRetention,
  run_plans: planRetention,
} as const satisfies Partial<Record<RetentionKind, MonthlyRetention>>;
