import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeyRing, type SealContext } from '#domain/shared/secrets.ts';

const old = { id: 'old', key: randomBytes(32) };
const fresh = { id: 'fresh', key: randomBytes(32) };
const context: SealContext = ['run-inputs', 'run-1'];
const secret = Buffer.from('hunter2 is the password');

describe('a sealed value', () => {
  it('opens to the bytes that were sealed, of any value and length', () => {
    const ring = new KeyRing([fresh]);
    for (const plaintext of [Buffer.alloc(0), Buffer.from([0, 255, 0]), randomBytes(70_000)])
      expect(ring.open(context, ring.seal(context, plaintext)).equals(plaintext)).toBe(true);
  });

  it('reveals nothing of its content and differs each time', () => {
    const ring = new KeyRing([fresh]);
    const [one, two] = [ring.seal(context, secret), ring.seal(context, secret)];
    expect(one.includes('hunter2')).toBe(false);
    expect(one.equals(two)).toBe(false);
  });

  it('opens only for its own context', () => {
    const ring = new KeyRing([fresh]);
    const sealed = ring.seal(context, secret);
    const others: SealContext[] = [
      ['run-inputs', 'run-2'],
      ['state', 'run-1'],
      ['run-inputs'],
      ['run-inputs', 'run-1', ''],
      ['run-inputs', 'run-', '1'],
      ['run-inputs","run-1'],
    ];
    for (const other of others) expect(() => ring.open(other, sealed), JSON.stringify(other)).toThrow();
  });

  it('does not open with any single bit changed', () => {
    const ring = new KeyRing([fresh, old]);
    const sealed = ring.seal(context, secret);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const tampered = Buffer.from(sealed);
      tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => ring.open(context, tampered), `bit ${bit}`).toThrow();
    }
  });

  it('does not open when truncated or extended', () => {
    const ring = new KeyRing([fresh]);
    const sealed = ring.seal(context, secret);
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => ring.open(context, sealed.subarray(0, length)), `${length} bytes`).toThrow();
    expect(() => ring.open(context, Buffer.concat([sealed, Buffer.from([0])]))).toThrow();
  });

  it('is opened from a view into a larger buffer, as database drivers return it', () => {
    const ring = new KeyRing([fresh]);
    const sealed = ring.seal(context, secret);
    const large = Buffer.concat([Buffer.from('before'), sealed, Buffer.from('after')]);
    const view = new Uint8Array(large.buffer, large.byteOffset + 6, sealed.length);
    expect(ring.open(context, view).equals(secret)).toBe(true);
  });
});

describe('the key ring', () => {
  it('seals with its first key and opens with any key, so that keys can be rotated', () => {
    const before = new KeyRing([old]).seal(context, secret);
    const rotated = new KeyRing([fresh, old]);
    const after = rotated.seal(context, secret);
    expect(rotated.open(context, before).equals(secret)).toBe(true);
    expect(new KeyRing([fresh]).open(context, after).equals(secret)).toBe(true);
    expect(() => new KeyRing([fresh]).open(context, before)).toThrow(
      'no key in the ring opens this value (key id "old")',
    );
  });

  it('does not open with another key of the same id', () => {
    const sealed = new KeyRing([fresh]).seal(context, secret);
    expect(() => new KeyRing([{ id: 'fresh', key: randomBytes(32) }]).open(context, sealed)).toThrow();
  });

  it('must not be empty', () => {
    expect(() => new KeyRing([])).toThrow('the key ring is empty');
  });
});
