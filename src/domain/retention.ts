import { mergeParts, type RecordOf } from './areas.ts';

/** What is removed by months, by the name of its setting. */
export const monthlyRetentions: RecordOf<'retention'> = mergeParts('retention');
