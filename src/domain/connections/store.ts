import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { findRowOwner, type OwnerIds } from '#domain/owners/owner.ts';
import { isOfOwner, isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { Connection } from './entity.ts';
import type { SealedCredentials } from './envelope.ts';

/** A connection as its readers see it. Nothing of it is sealed, so reading needs no key. */
export type ConnectionDetails = RowOf<typeof selectConnections>;

/** A connection with its owner. */
export interface ConnectionTarget extends Ownership, Archivable {
  readonly connection: ConnectionDetails;
}

/** A connection by its id; undefined if it or its owner is deleted. With `lock` it locks the rows of the owner, then its own. */
export async function findConnection(em: Em, id: string, lock = false): Promise<ConnectionTarget | undefined> {
  const known = await selectConnections(em).where('c.id', '=', id).executeTakeFirst();
  const owner = known && (await findRowOwner(em, known, lock));
  const connection = owner && lock ? await lockConnection(em, id) : known;
  if (!owner || !connection) return undefined;
  return { organizationId: owner.organizationId, teamId: owner.teamId, archived: owner.archived, connection };
}

/** For update: while the connection may be deleted, nothing can begin to refer to it. */
function lockConnection(em: Em, id: string): Promise<ConnectionDetails | undefined> {
  const found = selectConnections(em).where('c.id', '=', id);
  return lockRows(found, ['c'], 'change').forUpdate('c').executeTakeFirst();
}

/** The connections that a principal may read, by name. Everybody who may use connections can read those of the installation. */
export function listConnections(em: Em, principal: Principal, filter: OwnerIds): Promise<ConnectionDetails[]> {
  return selectConnections(em)
    .where((eb) => {
      const owner = {
        organization: eb.ref('c.organizationId'),
        team: eb.ref('c.teamId'),
        project: eb.ref('c.projectId'),
      };
      return eb.and([isOfReadableOwner(principal, owner, 'visible'), isOfOwner(filter, owner)]);
    })
    .orderBy('c.name')
    .orderBy('c.id')
    .execute();
}

export async function insertConnection(
  em: Em,
  connection: Omit<ConnectionDetails, 'revision' | 'createdAt' | 'credentialsSetAt'> & SealedCredentials,
): Promise<void> {
  await em.persist(em.create(Connection, { ...connection, credentialsSetAt: new Date() })).flush();
}

/** The seals of a connection, for a use of its credentials; undefined if there is no such connection. */
export function readSeals(em: Em, id: string) {
  return db(em)
    .selectFrom('connections as c')
    .where('c.id', '=', id)
    .select(['c.id', 'c.sealedKey', 'c.sealedCredentials'])
    .select('c.credentialRevision')
    .executeTakeFirst();
}

function selectConnections(em: Em) {
  return db(em)
    .selectFrom('connections as c')
    .select(['c.id', 'c.organizationId', 'c.teamId', 'c.projectId'])
    .select(['c.name', 'c.kind', 'c.config', 'c.provides', 'c.credentialRevision'])
    .select(['c.credentialsSetAt', 'c.revision', 'c.createdAt']);
}
