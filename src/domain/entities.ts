import type { EntitySchemaWithMeta } from '@mikro-orm/core';
import type { TableOf } from '#database/tables.ts';
import { type ElementOf, listParts } from './areas.ts';

type Schema = ElementOf<'entities'>;

/** Every entity of the service. */
export const entities: readonly Schema[] = listParts('entities');

/** Every table with the types of its columns, for Kysely. An interface, because the compiler compares those by their names. */
export interface Tables extends TablesOfSchemas {}

type TablesOfSchemas = { [Each in Schema as TableName<Each>]: TableOf<Each> };

type TableName<Each> = Each extends EntitySchemaWithMeta<string, infer Name> ? Name : never;
