import { randomBytes } from 'node:crypto';
import type { Em, Orm } from '#database/database.ts';
import type { Installation } from '../entity.ts';
import { newId } from '../ids.ts';
import { type KeyRing, SealUnopened } from '../secrets.ts';
import { bindNamespace, findInstallation, insertInstallation } from './store.ts';

/**
 * The identity of this installation, and its own keys, which are not part of the key ring. If the ring cannot open the keys, reading one of
 * them throws `SealUnopened`.
 */
export interface InstallationKeys {
  readonly id: string;
  /** Why the ring cannot open the keys, in one sentence for the operator; null if it can. */
  readonly problem: string | null;
  /** Signs session tokens. */
  readonly sessionKey: Buffer;
  /** Binds idempotency keys to the requests that used them. It must never change. */
  readonly bindingKey: Buffer;
}

export const installationContext = (id: string) => ['installation-keys', id] as const;

/**
 * Reads the installation's identity, and creates it at the very first start. Several processes may do so at once. A key ring that cannot
 * open the installation's keys does not stop a process: everything that needs no decryption still works (specification, *Connection list*).
 */
export async function openInstallation(orm: Orm, keyRing: KeyRing): Promise<InstallationKeys> {
  const em = orm.em.fork();
  const row = (await findInstallation(em)) ?? (await createInstallation(em, keyRing));
  try {
    const keys = keyRing.openJson<{ session: string; binding: string }>(installationContext(row.id), row.sealedKeys);
    return {
      id: row.id,
      problem: null,
      sessionKey: Buffer.from(keys.session, 'base64'),
      bindingKey: Buffer.from(keys.binding, 'base64'),
    };
  } catch (error) {
    if (error instanceof SealUnopened) return unopenedKeys(row.id, error);
    throw error;
  }
}

function unopenedKeys(id: string, error: SealUnopened): InstallationKeys {
  const setting = 'COORDINATOR_SECRET_KEYS (without it, the file secret-keys in the data directory)';
  return {
    id,
    problem: `${setting} is not the key ring of this installation: ${error.message}. Set the right ring and restart this process.`,
    get sessionKey(): Buffer {
      throw error;
    },
    get bindingKey(): Buffer {
      throw error;
    },
  };
}

function createInstallation(em: Em, keyRing: KeyRing): Promise<Installation> {
  const id = newId();
  const keys = { session: randomBytes(32).toString('base64'), binding: randomBytes(32).toString('base64') };
  return insertInstallation(em, id, keyRing.sealJson(installationContext(id), keys));
}

/**
 * Binds the installation to the engine's namespace at the first start.
 * @throws Error if it is bound to another namespace, whose workflows belong to another installation
 */
export async function bindEngineNamespace(orm: Orm, namespaceId: string): Promise<void> {
  const bound = await bindNamespace(orm.em.fork(), namespaceId);
  if (bound === namespaceId) return;
  throw new Error(
    `The Temporal namespace is not the one this installation was started with (${bound}, now ${namespaceId}): set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE back, or restore the engine's data.`,
  );
}

/** The id of the namespace that the installation is bound to; null before its first worker. */
export async function readEngineNamespace(orm: Orm): Promise<string | null> {
  const installation = await findInstallation(orm.em.fork());
  return installation?.engineNamespaceId ?? null;
}

/** How many states of attempts were set aside because they could not be stored. */
export async function countRefusedStates(em: Em): Promise<number> {
  return (await findInstallation(em))?.statesRefused ?? 0;
}

/** When unfinished runs were last compared with the engine, and how many of them the engine had lost. */
export async function readReconciliation(em: Em): Promise<{ at: Date | null; missed: number }> {
  const installation = await findInstallation(em);
  return { at: installation?.reconciledAt ?? null, missed: installation?.runsMissed ?? 0 };
}
