import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { parseWrittenJson } from './values/exact-json.ts';

export interface SealingKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** What a sealed value belongs to, such as `['run-inputs', runId]`. A value that was copied to another row cannot be opened there. */
export type SealContext = readonly [purpose: string, ...ids: string[]];

/**
 * The key ring cannot open a value: it lacks the key that sealed it, has another key under the same id, or the value is damaged. The edge
 * answers 503 with `advice`; `message` is for the log.
 */
export class SealUnopened extends Error {
  static readonly advice =
    'the service cannot decrypt what this needs: its operator has to check COORDINATOR_SECRET_KEYS, and finds the id of the key in the log';

  /** The id of the key that sealed the value, as the value itself states. */
  readonly keyId: string;

  constructor(keyId: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SealUnopened';
    this.keyId = keyId;
  }
}

const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals values with the first key of the ring, and opens each with the key that sealed it (AES-256-GCM with a derived key for each
 * purpose). Layout: version, length of the key's id, the id, nonce, tag, ciphertext.
 */
export class KeyRing {
  readonly #keys: readonly SealingKey[];

  constructor(keys: readonly SealingKey[]) {
    if (keys.length === 0) throw new Error('the key ring is empty');
    this.#keys = keys;
  }

  /** The first bytes of every value that the first key seals. */
  get header(): Buffer {
    const { id } = this.#keys[0]!;
    return Buffer.concat([Buffer.from([formatVersion, Buffer.byteLength(id)]), Buffer.from(id)]);
  }

  seal(context: SealContext, plaintext: Buffer): Buffer {
    const { key } = this.#keys[0]!;
    const { header } = this;
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', derive(key, context[0]), nonce);
    cipher.setAAD(additionalData(header, context));
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
  }

  /** @throws SealUnopened if the ring lacks the key, or the bytes or the context are not those that were sealed */
  open(context: SealContext, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const headerLength = 2 + (bytes[1] ?? 0);
    const header = bytes.subarray(0, headerLength);
    const id = header.subarray(2).toString();
    const entry = this.#keys.find((candidate) => candidate.id === id);
    if (bytes[0] !== formatVersion || !entry)
      throw new SealUnopened(id, `no key in the ring opens this value (key id "${id}")`);
    const nonce = bytes.subarray(headerLength, headerLength + nonceBytes);
    const tag = bytes.subarray(headerLength + nonceBytes, headerLength + nonceBytes + tagBytes);
    try {
      const key = derive(entry.key, context[0]);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(additionalData(header, context));
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(headerLength + nonceBytes + tagBytes)), decipher.final()]);
    } catch (error) {
      const message = `the key "${id}" of the ring is not the key that sealed this value, or the value is damaged`;
      throw new SealUnopened(id, message, error);
    }
  }

  /**
   * A keyed hash by which secrets are compared. Only hashes of the same context can be compared. Hashes must not be stored, because a new
   * first key gives other hashes.
   */
  digest([purpose, ...ids]: SealContext, plaintext: string): string {
    const { key } = this.#keys[0]!;
    return createHmac('sha256', derive(key, `digest/${purpose}`))
      .update(JSON.stringify([ids, plaintext]))
      .digest('base64url');
  }

  sealJson(context: SealContext, value: unknown): Buffer {
    return this.seal(context, Buffer.from(JSON.stringify(value)));
  }

  /** Opens a sealed JSON value. The caller states its type: authenticated encryption guarantees that the value is unchanged. */
  openJson<T>(context: SealContext, sealed: Uint8Array): T {
    return parseWrittenJson(this.open(context, sealed).toString()) as T;
  }
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `delivery-coordinator/${purpose}`, 32));
}

function additionalData(header: Buffer, context: SealContext): Buffer {
  return Buffer.concat([header, Buffer.from(JSON.stringify(context))]);
}
