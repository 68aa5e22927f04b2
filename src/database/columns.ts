import { p } from '@mikro-orm/core';

/** Columns that many tables have. */
export const id = () => p.uuid().primary();
export const createdAt = () => p.datetime(3).onCreate(() => new Date());
export const revision = () => p.integer().default(1);
/** For things that are found by their owner and a name: the highest revision of a removed one. The next one continues after it. */
export const removedRevision = () => p.integer().default(0);
export const at = () => p.datetime(3);
