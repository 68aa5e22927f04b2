import { p } from '@mikro-orm/core';

/** Columns that many tables have. */
export const id = () => p.uuid().primary();
export const createdAt = () => p.datetime(3).onCreate(() => new Date());
export const revision = () => p.integer().default(1);
export const at = () => p.datetime(3);
