import { createHash, webcrypto } from 'node:crypto';

/** `sha256:…` of bytes. */
export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** `digestOf`, computed in a thread, so that large contents delay no other request. */
export async function digestInThread(content: Uint8Array): Promise<string> {
  return `sha256:${Buffer.from(await webcrypto.subtle.digest('SHA-256', content)).toString('hex')}`;
}
