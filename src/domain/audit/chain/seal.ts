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

/** The first seal is bound to this value, since it has no previous seal. */
const beginning = Buffer.alloc(32);

/**
 * Computes a seal. The key never leaves the service's processes. So somebody with access only to the database can change a record, but
 * cannot compute the seal that fits it.
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

/** Whether a seal fits the records that it covers and the previous seal. */
export function isGenuine(key: Buffer, before: Buffer | null, seal: Seal): boolean {
  const expected = computeSeal(key, before, seal);
  return expected.length === seal.seal.length && timingSafeEqual(expected, seal.seal);
}

/** The key of an installation's seals. It does not change when the key ring is rotated, because seals are permanent. */
export function sealingKeyOf(bindingKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', bindingKey, '', 'delivery-coordinator/audit-seals', 32));
}
