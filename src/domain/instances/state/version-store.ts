import { type Insertable, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { type Page, type PageRequest, pageByNumber } from '#domain/shared/paging/paging.ts';

/** Reads and writes state versions as rows. */

function selectStateVersions(em: Em, instanceId: string) {
  return db(em)
    .selectFrom('state_versions')
    .where('instanceId', '=', instanceId)
    .select(['serial', 'runId', 'digest', 'size', 'resourceCount', 'createdBy', 'createdAt']);
}

/** A state version without its content. Times are strings. */
export type StateVersionDetails = NonNullable<Awaited<ReturnType<typeof readStateVersion>>>;

export function readStateVersion(em: Em, instanceId: string, serial: number) {
  return selectStateVersions(em, instanceId).where('serial', '=', serial).executeTakeFirst();
}

type NewStateVersion = Omit<Insertable<Tables['state_versions']>, 'createdAt'>;

/** Inserts a version without an entity, because an entity would keep copies of the content. */
export async function insertStateVersion(em: Em, version: NewStateVersion): Promise<void> {
  await db(em)
    .insertInto('state_versions')
    .values({ ...version, createdAt: sql`clock_timestamp()` })
    .execute();
}

const bySerial = { column: 'serial', of: ({ serial }: { serial: number }) => serial, direction: 'desc' } as const;

/** The state versions of an instance, newest first. */
export function listStateVersions(
  em: Em,
  instanceId: string,
  request: PageRequest,
): Promise<Page<StateVersionDetails>> {
  return pageByNumber(selectStateVersions(em, instanceId), bySerial, request);
}
