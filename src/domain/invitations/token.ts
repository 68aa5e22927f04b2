import { createHash, randomBytes } from 'node:crypto';

/** The token of an invitation: `dci_` and 256 random bits. */
export function generateToken(): string {
  return `dci_${randomBytes(32).toString('base64url')}`;
}

/** The hash of a token, which alone is kept. A token is random, so a slow hash would add nothing. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
