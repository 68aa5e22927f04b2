import type { Em, Orm } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { SigningKey } from '../entity.ts';
import { makeKeyPair, type NewKeyPair, privateKeyContext } from './key-pair.ts';
import { later, publishedAheadSeconds, type Scheduled, scheduleOf, startOfDueKey } from './schedule.ts';
import { deleteSigningKeys, forgetPrivateKeys, readSigningKeys } from './store.ts';

type StoredKey = Awaited<ReturnType<typeof readSigningKeys>>['keys'][number];
export type SigningKeyView = Omit<Scheduled<StoredKey>, 'sealedPrivateKey' | 'publicKey'>;

/** The signing keys, which belong to the whole installation. */
export interface SigningKeysTarget extends Ownership {
  readonly schedule: readonly Scheduled<StoredKey>[];
  readonly now: Date;
}

/** The keys that are published now, newest first. With `lock`, no other command can change them before the commit. */
export async function findSigningKeys(em: Em, lock: boolean): Promise<SigningKeysTarget> {
  const { keys, now } = await readSigningKeys(em, lock);
  return { ...installationOwnership, schedule: scheduleOf(keys, now), now };
}

interface Rotation {
  readonly keyRing: KeyRing;
  readonly pair: NewKeyPair;
  /**
   * For keys that may have leaked. The new key signs at once. All other keys are withdrawn, so that the tokens that they have signed are no
   * longer valid.
   */
  readonly withdrawOthers: boolean;
}

/**
 * Adds a key. It is published at once and signs an hour later. The caller has locked the keys.
 * @throws Conflict if a published key does not sign yet and the others are not withdrawn
 */
export async function rotateSigningKeys(
  tx: Transaction,
  { schedule, now }: SigningKeysTarget,
  { keyRing, pair, withdrawOthers }: Rotation,
): Promise<SigningKeyView> {
  const [newest] = schedule;
  if (withdrawOthers)
    await deleteSigningKeys(
      tx.em,
      schedule.map(({ id }) => id),
    );
  else if (newest?.status === 'upcoming')
    throw new Conflict(
      `a new key is published already, and signs from ${new Date(newest.signsFrom).toISOString()}: wait for it, or withdraw all others`,
      'signing_key_upcoming',
    );
  const isAlone = withdrawOthers || newest === undefined;
  return addKey(tx.em, keyRing, { pair, now, signsFrom: isAlone ? now : later(now.getTime(), publishedAheadSeconds) });
}

export interface KeyUpkeepDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly keyRing: KeyRing;
  /** For how many days a key signs. */
  readonly signingKeyDays: number;
}

/**
 * Publishes a new key when one is due, deletes the private parts of keys that no longer sign, and later the keys themselves. Several
 * workers may call it at the same time. Returns the id of the new key; null if none was due.
 */
export async function keepSigningKeys(deps: KeyUpkeepDeps): Promise<string | null> {
  await deps.orm.em.fork().transactional(forgetOldKeys);
  const { schedule, now } = await findSigningKeys(deps.orm.em.fork(), false);
  if (startOfDueKey(schedule, now, deps.signingKeyDays) === null) return null;
  const pair = await makeKeyPair();
  const id = newId();
  const command = { action: 'signing_key.created', target: { id }, cause: null } as const;
  const done = await runSystemCommand(deps, command, {
    find: ({ em }) => findSigningKeys(em, true),
    act: async ({ em }, _caller, target) => {
      const signsFrom = startOfDueKey(target.schedule, target.now, deps.signingKeyDays);
      if (signsFrom === null) throw new NothingToDo();
      return changeOf(await addKey(em, deps.keyRing, { id, pair, now: target.now, signsFrom }));
    },
  });
  return done?.id ?? null;
}

/** The audit's description of a new key. */
export function changeOf({ id, keyId, signsFrom }: SigningKeyView) {
  return { id, after: { key_id: keyId, signs_from: new Date(signsFrom).toISOString() } };
}

async function forgetOldKeys(em: Em): Promise<void> {
  const { keys, now } = await readSigningKeys(em);
  const published = scheduleOf(keys, now);
  const retired = published.filter(({ status, sealedPrivateKey }) => status === 'retired' && sealedPrivateKey !== null);
  await forgetPrivateKeys(em, idsOf(retired));
  const isPublished = new Set(idsOf(published));
  await deleteSigningKeys(em, idsOf(keys.filter(({ id }) => !isPublished.has(id))));
}

function idsOf(keys: readonly StoredKey[]): string[] {
  return keys.map(({ id }) => id);
}

interface AddedKey {
  readonly id?: string;
  readonly pair: NewKeyPair;
  readonly now: Date;
  readonly signsFrom: Date;
}

async function addKey(
  em: Em,
  keyRing: KeyRing,
  { id = newId(), pair, now, signsFrom }: AddedKey,
): Promise<SigningKeyView> {
  const { keyId, publicKey, privateKey } = pair;
  const sealedPrivateKey = keyRing.seal(privateKeyContext(id), privateKey);
  await em
    .persist(em.create(SigningKey, { id, keyId, publicKey, sealedPrivateKey, signsFrom, createdAt: now }))
    .flush();
  const status = signsFrom > now ? 'upcoming' : 'signing';
  const times = { signsFrom: signsFrom.toISOString(), createdAt: now.toISOString() };
  return { id, keyId, ...times, status, publishedUntil: null };
}
