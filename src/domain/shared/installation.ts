import { randomBytes } from 'node:crypto';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { Installation } from './entity.ts';
import { newId } from './ids.ts';
import type { KeyRing } from './secrets.ts';

/** Who this installation is, and the keys that belong to it rather than to the key ring. */
export interface InstallationKeys {
  readonly id: string;
  /** Signs session tokens. */
  readonly sessionKey: Buffer;
  /** Binds idempotency keys to what they were used for; must never change. */
  readonly bindingKey: Buffer;
}

const context = (id: string) => ['installation-keys', id] as const;

/** Reads the installation's identity, making it at the very first start. Safe to race. */
export async function openInstallation(orm: Orm, keyRing: KeyRing): Promise<InstallationKeys> {
  const em = orm.em.fork();
  const row = (await findInstallation(em)) ?? (await makeInstallation(em, keyRing));
  const keys = keyRing.openJson<{ session: string; binding: string }>(context(row.id), row.sealedKeys);
  return {
    id: row.id,
    sessionKey: Buffer.from(keys.session, 'base64'),
    bindingKey: Buffer.from(keys.binding, 'base64'),
  };
}

function findInstallation(em: Em): Promise<Installation | null> {
  return em.findOne(Installation, { only: true });
}

async function makeInstallation(em: Em, keyRing: KeyRing): Promise<Installation> {
  const id = newId();
  const keys = { session: randomBytes(32).toString('base64'), binding: randomBytes(32).toString('base64') };
  await em.execute(
    `insert into installation (id, sealed_keys, created_at) values (?, ?, clock_timestamp()) on conflict ("only") do nothing`,
    [id, keyRing.sealJson(context(id), keys)],
  );
  return em.findOneOrFail(Installation, { only: true });
}

/**
 * Binds the installation to the engine's namespace at the first start.
 * @throws Error where the namespace of that name is another one than before: its workflows are not ours
 */
export async function bindEngineNamespace(orm: Orm, namespaceId: string): Promise<void> {
  const rows = await orm.em
    .fork()
    .execute<{ engine_namespace_id: string }[]>(
      `update installation set engine_namespace_id = coalesce(engine_namespace_id, ?) returning engine_namespace_id`,
      [namespaceId],
    );
  const bound = rows[0]?.engine_namespace_id;
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

/** Keeps what a comparison of runs with the engine found: how many runs the engine has lost. */
export async function noteReconciliation(em: Em, missed: number): Promise<void> {
  await em.execute(`update installation set reconciled_at = clock_timestamp(), runs_missed = ?`, [missed]);
}

/** Counts a state of an attempt that was set aside. */
export async function addRefusedState(em: Em): Promise<void> {
  await db(em)
    .updateTable('installation')
    .set((eb) => ({ states_refused: eb('states_refused', '+', 1) }))
    .execute();
}

/** How many states of attempts were set aside since they could not be stored. */
export async function countRefusedStates(em: Em): Promise<number> {
  return (await findInstallation(em))?.statesRefused ?? 0;
}

/** When runs were last compared with the engine, and how many it had lost. */
export async function readReconciliation(em: Em): Promise<{ at: Date | null; missed: number }> {
  const installation = await findInstallation(em);
  return { at: installation?.reconciledAt ?? null, missed: installation?.runsMissed ?? 0 };
}
