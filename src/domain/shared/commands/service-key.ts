import { createHmac } from 'node:crypto';
import { toId } from '../ids.ts';
import { canonicalJson } from './canonical.ts';

/**
 * The key under which the service does something once for a cause: a repeated attempt finds the receipt, or the workflow, of the first. It is
 * an HMAC, because clients choose their own keys: whoever could compute this one could use it for a request of their own first, and the service
 * would never do it.
 */
export function serviceKeyOf(bindingKey: Buffer, cause: readonly (string | number)[]): string {
  return toId(createHmac('sha256', bindingKey).update(canonicalJson(cause)).digest());
}
