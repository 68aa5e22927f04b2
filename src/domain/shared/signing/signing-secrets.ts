import type { KeyRing } from '#domain/shared/secrets.ts';
import { makeSecret } from './signed-headers.ts';

/** How long messages carry signatures by both secrets after a rotation. */
export const overlapMs = 24 * 60 * 60_000;

/** A row whose messages are signed. It keeps its secrets sealed. */
export interface Signing {
  readonly id: string;
  sealedSecret?: Buffer | Uint8Array | null | undefined;
  /** The secret before the last rotation, which also signs until `previousUntil`. */
  sealedPreviousSecret?: Buffer | Uint8Array | null | undefined;
  previousUntil?: Date | null | undefined;
}

/** How the rows of one kind keep the secrets that sign their messages. `purpose` begins the context of the seals: it never changes. */
export function signingSecrets(purpose: string) {
  const contextOf = (id: string) => [purpose, id] as const;
  const canOpen = (keyRing: KeyRing, id: string, sealed: Buffer | Uint8Array) => {
    try {
      keyRing.open(contextOf(id), sealed);
      return true;
    } catch {
      return false;
    }
  };
  const seal = (keyRing: KeyRing, id: string, secret: string) => keyRing.seal(contextOf(id), Buffer.from(secret));
  return {
    contextOf,
    /** A new secret, and the same sealed for the row with this id. */
    make(keyRing: KeyRing, id: string): { secret: string; sealed: Buffer } {
      const secret = makeSecret();
      return { secret, sealed: seal(keyRing, id, secret) };
    },
    /**
     * Gives a row a new secret, and returns it. The previous secret stays valid for another day, and an older one becomes invalid. A
     * previous secret that the key ring cannot open becomes invalid at once: it could sign nothing, and a rotation is the way to replace
     * it.
     */
    renew(keyRing: KeyRing, row: Signing): string {
      const secret = makeSecret();
      const isKept = row.sealedSecret && canOpen(keyRing, row.id, row.sealedSecret);
      if (row.sealedSecret) {
        row.sealedPreviousSecret = isKept ? row.sealedSecret : null;
        row.previousUntil = isKept ? new Date(Date.now() + overlapMs) : null;
      }
      row.sealedSecret = seal(keyRing, row.id, secret);
      return secret;
    },
    /** The secrets that sign the messages of a row now. @throws Error if the key ring cannot open one */
    open(keyRing: KeyRing, { id, sealedSecret, sealedPreviousSecret, previousUntil }: Readonly<Signing>): string[] {
      const isValid = previousUntil && previousUntil.getTime() > Date.now();
      return [sealedSecret, isValid ? sealedPreviousSecret : null].flatMap((sealed) =>
        sealed ? [keyRing.open(contextOf(id), sealed).toString()] : [],
      );
    },
  };
}

/** Until when the secret before the last rotation also signs; null if it no longer does. */
export function overlapUntil(previousUntil: string | null): string | null {
  return previousUntil !== null && Date.parse(previousUntil) > Date.now() ? previousUntil : null;
}
