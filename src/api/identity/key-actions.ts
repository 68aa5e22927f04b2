import type { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import {
  findRevocationRefusal,
  findRotationRefusal,
  type KeyWithFacts,
  withKeyFacts,
} from '#domain/identity/api-keys/actions.ts';
import type { ApiKeyDetails } from '#domain/identity/api-keys/store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { ApiKeyView, viewApiKey } from './views.ts';

/** What callers may do with their own API keys. */
const ownKeyActions = actionsOf<KeyWithFacts & Ownership>()({
  rotate: { operation: 'profile.rotate_api_key', findRefusal: findRotationRefusal },
  revoke: { operation: 'profile.revoke_api_key', findRefusal: findRevocationRefusal },
});

/** A single key, with what the caller may do with it. */
export const ApiKeyDetailsView = ApiKeyView.extend({ actions: ownKeyActions.view }).meta({ id: 'ApiKeyDetails' });

/** Shows a caller's own API key. */
export async function showOwnKey(
  em: Em,
  context: ActionContext,
  key: ApiKeyDetails,
): Promise<z.input<typeof ApiKeyDetailsView>> {
  const target = { ...installationOwnership, ...(await withKeyFacts(em, key)) };
  return { ...viewApiKey(key), actions: ownKeyActions.describe(context, target) };
}
