import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Position } from '../filter-store.ts';

/** A seal as it is stored. */
export interface Seal {
  readonly position: number;
  readonly until: Position;
  readonly records: number;
  readonly content: Buffer;
  readonly seal: Buffer;
}

/** What the first seal is bound to in the place of a seal before it. */
const beginning = Buffer.alloc(32);

/**
 * Computes a seal. The key never leaves the service's processes, so whoever can write to the database alone can change a record, but
 * cannot make the seal that would fit it.
 */
export function computeSeal(
  key: Buffer,
  before: Buffer | null,
  { position, until, records, content }: Omit<Seal, 'seal'>,
): Buffer {
  const previous = (before ?? beginning).toString('base64');
  const covered = [position, previous, until.at, until.id, records, content.toString('base64')];
  return createHmac('sha256', key).update(JSON.stringify(covered)).digest();
}

/** Whether a seal fits what it covers and the seal before it. */
export function isGenuine(key: Buffer, before: Buffer | null, seal: Seal): boolean {
  const expected = computeSeal(key, before, seal);
  return expected.length === seal.seal.length && timingSafeEqual(expected, seal.seal);
}

/** The key of an installation's seals. It outlives the rotation of the key ring, as seals do. */
export function sealingKeyOf(bindingKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', bindingKey, '', 'delivery-coordinator/audit-seals', 32));
}
