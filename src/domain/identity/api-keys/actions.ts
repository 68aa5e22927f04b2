import type { Em } from '#database/database.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { type ApiKeyDetails, hasSuccessor } from './store.ts';

/** A key with the facts for the rules about its actions. */
export interface KeyWithFacts extends ApiKeyDetails {
  readonly hasSuccessor: boolean;
}

export async function withKeyFacts(em: Em, key: ApiKeyDetails): Promise<KeyWithFacts> {
  return { ...key, hasSuccessor: await hasSuccessor(em, key.id) };
}

/** The refusal of a rotation by the key's own state; null if its state allows it. */
export function findRotationRefusal({ kind, state, hasSuccessor: isRotated }: KeyWithFacts): Refusal | null {
  if (kind === 'profile')
    return { code: 'key_not_rotatable', message: 'this is the profile key: regenerate it instead' };
  if (state !== 'active') return { code: 'key_not_active', message: `the key is ${state}: create another one` };
  return isRotated ? { code: 'key_rotated', message: 'the key was rotated already: rotate its successor' } : null;
}

export function findRevocationRefusal({ state }: Pick<ApiKeyDetails, 'state'>): Refusal | null {
  return state === 'revoked' ? { code: 'key_not_active', message: 'the key is revoked already' } : null;
}
