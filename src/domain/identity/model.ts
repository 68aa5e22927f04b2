import { z } from 'zod';
import { humanName } from '#domain/shared/values/human-name.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';

/** A user has one profile key, which is regenerated in place, and any number of personal ones. */
export const apiKeyKinds = ['profile', 'personal', 'service_account'] as const;
export type ApiKeyKind = (typeof apiKeyKinds)[number];

export const apiKeyStates = ['active', 'expired', 'revoked'] as const;
export type ApiKeyState = (typeof apiKeyStates)[number];

export const Email = z.email({ error: 'expected an e-mail address such as ana@example.com' }).max(254);

export const PersonName = humanName(200);

/** The form in which two addresses are compared. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

export const sessionLifetimeSeconds = 24 * 60 * 60;

/** A user to be created. The hash of its password is passed separately. */
export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: PlatformRole;
  readonly enabled: boolean;
}

/** The fields of a user to change. A field that is left out keeps its value. */
export interface UserChange {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly role?: PlatformRole | undefined;
  readonly enabled?: boolean | undefined;
  readonly expectedRevision?: number | undefined;
}
