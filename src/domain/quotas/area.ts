import { InstanceUsageSchema, QuotaCrossingSchema, QuotaSchema } from './entity.ts';
import { quotaEvents } from './events.ts';
import { quotaTables } from './ownership.ts';

export const entities = [QuotaSchema, QuotaCrossingSchema, InstanceUsageSchema] as const;
export const ownership = quotaTables;
export const events = quotaEvents;

export const errorCodes = {
  quota_exceeded: 'A quota is used up. `errors` names it, with its limit and what is used.',
} as const;
