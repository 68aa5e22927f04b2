import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { newId } from '#domain/shared/ids.ts';
import type { DeployedResource } from '../state-file/addresses.ts';

const fields = ['address', 'module', 'type', 'name', 'provider'] as const;
/** The maximum number of rows in a statement, so that statements do not grow with the size of a state. */
const rowsPerStatement = 1000;

interface Owner {
  readonly id: string;
  readonly teamId?: string | null;
}

/**
 * Replaces the resource list of an instance, in the given order. Resources that stay keep their ids. The caller has locked the row of the
 * instance.
 */
export async function replaceResources(em: Em, owner: Owner, resources: readonly DeployedResource[]): Promise<void> {
  const listed = await db(em)
    .selectFrom('instance_resources')
    .where('instanceId', '=', owner.id)
    .select(['id', ...fields])
    .execute();
  const gone = new Map(listed.map((row) => [keyOf(row), row.id]));
  const added = resources.filter((resource) => !gone.delete(keyOf(resource)));
  await inParts([...gone.values()], (ids) => removeResources(em, ids));
  // Lists show the newest id first, so the last resource of the state gets the first id.
  const rows = added.toReversed().map((resource) => ({ ...resource, id: newId() }));
  await inParts(rows, (part) => insertResources(em, owner, part));
}

/** A key by which two resources are equal if all their fields are equal. */
function keyOf(resource: DeployedResource): string {
  return JSON.stringify(fields.map((field) => resource[field]));
}

async function inParts<Item>(items: readonly Item[], write: (part: readonly Item[]) => Promise<unknown>) {
  for (let start = 0; start < items.length; start += rowsPerStatement)
    await write(items.slice(start, start + rowsPerStatement));
}

function removeResources(em: Em, ids: readonly string[]) {
  return db(em)
    .deleteFrom('instance_resources')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .execute();
}

const columns = sql`added (id uuid, address text, module text, type text, name text, provider text)`;

function insertResources(em: Em, { id, teamId = null }: Owner, rows: readonly (DeployedResource & { id: string })[]) {
  type Row = Record<'id' | 'address' | 'type' | 'name', string> & Record<'module' | 'provider', string | null>;
  const added = sql<Row>`jsonb_to_recordset(${json(rows)}::jsonb)`;
  return db(em)
    .insertInto('instance_resources')
    .columns(['instanceId', 'teamId', 'id', ...fields])
    .expression((eb) =>
      eb
        .selectFrom(added.as<'added'>(columns))
        .select([sql<string>`${id}::uuid`.as('instanceId'), sql<string | null>`${teamId}::uuid`.as('teamId')])
        .select(['added.id', 'added.address', 'added.module', 'added.type', 'added.name', 'added.provider']),
    )
    .execute();
}
