import { InstanceUsageSchema, QuotaCrossingSchema, QuotaSchema } from './entity.ts';
import { quotaEvents } from './events.ts';
import { quotaTables } from './ownership.ts';

export const entities = [QuotaSchema, QuotaCrossingSchema, InstanceUsageSchema] as const;
export const ownership = quotaTables;
export const events = quotaEvents;
