import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';

export function tokenContext(messageId: string): SealContext {
  return ['message-token', messageId];
}

/** Seals the one-time token of a message. It is bound to the message. */
export function sealToken(keyRing: KeyRing, messageId: string, token: string): Buffer {
  return keyRing.seal(tokenContext(messageId), Buffer.from(token));
}

/** @throws Error if the key ring cannot open it */
export function openToken(keyRing: KeyRing, messageId: string, sealed: Uint8Array): string {
  return keyRing.open(tokenContext(messageId), sealed).toString();
}
