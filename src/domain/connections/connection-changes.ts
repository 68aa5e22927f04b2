import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { refuseBeyondLimit } from '#domain/owners/limit-store.ts';
import { findRowOwner, type RowOwner } from '#domain/owners/owner.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { readBack, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { lockPlacesOf, revisePlacesOf } from './bindings/store.ts';
import type { CheckedSettings } from './check.ts';
import { Connection } from './entity.ts';
import { sealCredentials } from './envelope.ts';
import type { ConnectionKind } from './kinds/kinds.ts';
import { type ConnectionDetails, type ConnectionTarget, findConnection, insertConnection } from './store.ts';

/** The maximum number of connections of an owner, since their list has no pages. */
export const maxConnections = 200;

interface NewConnection {
  readonly name: string;
  readonly kind: ConnectionKind;
}

/** Creates a connection of an owner, whose row the caller has locked. */
export async function createConnection(
  tx: Transaction,
  keyRing: KeyRing,
  owner: RowOwner,
  { name, kind, config, credentials, provides }: NewConnection & CheckedSettings,
): Promise<ConnectionDetails> {
  refuseArchived(owner);
  await refuseBeyondLimit(tx.em, owner, { table: 'connections', name: 'connections', max: maxConnections });
  const seal = { id: newId(), credentialRevision: 1 };
  const sealed = sealCredentials(keyRing, seal, credentials);
  await refuseTakenName(name, () =>
    insertConnection(tx.em, { ...seal, ...sealed, ...owner.columns, name, kind, config, provides }),
  );
  return readChanged(tx, seal.id);
}

/**
 * Changes the name of a connection, or all of its settings. The caller has locked the row. A change of the config must include the
 * credentials, so that nobody can redirect stored credentials to another host.
 */
export async function updateConnection(
  tx: Transaction,
  keyRing: KeyRing,
  target: ConnectionTarget,
  { name, settings, expectedRevision }: UpdatedConnection,
): Promise<ConnectionDetails> {
  const { connection } = target;
  refuseArchived(target);
  refuseStale(connection, expectedRevision);
  refuseOvertaken(connection, settings);
  const isRenamed = name !== undefined && name !== connection.name;
  if (!isRenamed && !settings) return connection;
  const columns = settings ? toColumns(keyRing, connection, settings) : {};
  await refuseTakenName(name ?? connection.name, () =>
    saveChange(tx.em, Connection, connection, { ...columns, ...(isRenamed && { name }) }),
  );
  return readChanged(tx, connection.id);
}

interface UpdatedConnection {
  readonly name: string | undefined;
  /** The config with the credentials that belong to it. */
  readonly settings: SettingsForConfig | undefined;
  readonly expectedRevision: number | undefined;
}

/** Checked settings, and the config of the connection that the credentials are meant for. */
export interface SettingsForConfig extends CheckedSettings {
  /** Undefined: the request contained the config itself. */
  readonly keptConfig: ConnectionDetails['config'] | undefined;
}

/** Replaces the credentials. Attempts that have received the earlier ones keep them until they end. The caller has locked the row. */
export async function rotateCredentials(
  tx: Transaction,
  keyRing: KeyRing,
  target: ConnectionTarget,
  { settings, expectedRevision }: { settings: SettingsForConfig; expectedRevision: number | undefined },
): Promise<ConnectionDetails> {
  return updateConnection(tx, keyRing, target, { name: undefined, settings, expectedRevision });
}

/** Finds a connection to delete. With `lock` it locks the projects and environments that bind it, and then the connection. */
export async function findConnectionToDelete(em: Em, id: string, lock: boolean): Promise<ConnectionTarget | undefined> {
  const known = await findConnection(em, id);
  if (!known || !lock) return known;
  await findRowOwner(em, known.connection, true);
  await lockPlacesOf(em, id);
  return findConnection(em, id, true);
}

/** Deletes a connection with its credentials and bindings. The caller has locked the rows (`findConnectionToDelete`). */
export async function deleteConnection(
  tx: Transaction,
  { connection }: ConnectionTarget,
  expectedRevision: number | undefined,
): Promise<void> {
  refuseStale(connection, expectedRevision);
  await revisePlacesOf(tx.em, connection.id);
  await tx.em.remove(tx.em.getReference(Connection, connection.id)).flush();
}

/** Refuses credentials if somebody has saved another config since they were checked. A changed name is no problem. */
function refuseOvertaken({ config }: ConnectionDetails, settings: SettingsForConfig | undefined): void {
  if (settings?.keptConfig === undefined || isDeepStrictEqual(settings.keptConfig, config)) return;
  throw new Conflict('the connection was changed at the same time: read it again', 'concurrent_change');
}

function toColumns(
  keyRing: KeyRing,
  { id, credentialRevision: former }: ConnectionDetails,
  { config, credentials, provides }: CheckedSettings,
) {
  const credentialRevision = former + 1;
  const { sealedKey, sealedCredentials } = sealCredentials(keyRing, { id, credentialRevision }, credentials);
  return {
    config,
    provides,
    sealedKey,
    sealedCredentials,
    credentialRevision,
    credentialsSetAt: new Date(),
  };
}

async function refuseTakenName(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (brokenConstraint(error) !== 'connections_owner_name_unique') throw error;
    throw new Conflict(`name: the owner has a connection "${name}" already: choose another name`, 'name_taken');
  }
}

async function readChanged(tx: Transaction, id: string): Promise<ConnectionDetails> {
  return (await readBack(findConnection(tx.em, id))).connection;
}
