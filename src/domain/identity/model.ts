import { z } from 'zod';
import { isPersonal, Password, personalMessage } from './passwords/rules.ts';

/** The platform roles, weakest first; nobody grants a role above their own. */
export const platformRoles = ['requester', 'maintainer', 'operator', 'admin'] as const;
export type PlatformRole = (typeof platformRoles)[number];
export const PlatformRole = z.enum(platformRoles);

/** Whether the one role is stronger than the other. */
export function isRoleAbove(role: PlatformRole, other: PlatformRole): boolean {
  return platformRoles.indexOf(role) > platformRoles.indexOf(other);
}

export const principalKinds = ['user', 'service_account', 'background', 'system'] as const;
export type PrincipalKind = (typeof principalKinds)[number];

/** A user has one profile key, which is regenerated in place, and personal ones; a service account has keys of its own. */
export const apiKeyKinds = ['profile', 'personal', 'service_account'] as const;
export type ApiKeyKind = (typeof apiKeyKinds)[number];

export const Email = z.email({ error: 'expected an e-mail address such as ana@example.com' }).max(254);

export const PersonName = z.string().trim().min(1, { error: 'must not be empty' }).max(200);

const fewestCharacters = 5;

const notPersonal = { path: ['password'], error: personalMessage };

/** Who may be the first: with a password that is no mere pattern either. */
export const FirstAdministrator = z
  .strictObject({ email: Email, name: PersonName, password: Password })
  .refine(({ password }) => new Set(password).size >= fewestCharacters, {
    path: ['password'],
    error: `must have at least ${fewestCharacters} different characters`,
  })
  .refine((user) => !isPersonal(user.password, user), notPersonal);

/** The form in which two addresses are compared. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

export const sessionLifetimeSeconds = 24 * 60 * 60;

export const CreateUser = z
  .strictObject({
    email: Email,
    name: PersonName,
    password: Password,
    role: PlatformRole,
    enabled: z.boolean().default(true),
  })
  .refine((user) => !isPersonal(user.password, user), notPersonal);

/** What is left out stays. Oneself may change only the address and the name. */
export const UpdateUser = z.strictObject({
  email: Email.optional(),
  name: PersonName.optional(),
  role: PlatformRole.optional(),
  enabled: z.boolean().optional(),
  password: Password.optional(),
  expected_revision: z.int().min(1).optional(),
});
