import { createHmac } from 'node:crypto';
import { canonicalJson } from '../commands/canonical.ts';
import { toId } from '../ids.ts';

/**
 * The key of what is started at one time of a row's schedule, so that a repeated attempt finds the receipt of the first. It is an HMAC:
 * a client that could compute it would use it first, and the work would never be started.
 */
export function startKeyOf(bindingKey: Buffer, kind: string, id: string, scheduledAt: Date): string {
  const text = canonicalJson(['scheduled work', kind, id, scheduledAt.toISOString()]);
  return toId(createHmac('sha256', bindingKey).update(text).digest());
}
