import { createHmac } from 'node:crypto';
import { toId } from '../ids.ts';
import { canonicalJson } from './canonical.ts';

/**
 * The idempotency key with which the service acts only once for a cause: a repeated attempt finds the receipt, or the workflow, of the
 * first. It is an HMAC, because clients choose their own keys: a client that could compute it could use it up first, and the service would
 * never act.
 */
export function serviceKeyOf(bindingKey: Buffer, cause: readonly (string | number)[]): string {
  return toId(createHmac('sha256', bindingKey).update(canonicalJson(cause)).digest());
}
