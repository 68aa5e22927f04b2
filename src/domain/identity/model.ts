import { z } from 'zod';
import { isPersonal, Password, personalMessage } from './passwords/rules.ts';

/** The platform roles, weakest first; nobody can grant a role above their own. */
export const platformRoles = ['requester', 'maintainer', 'operator', 'admin'] as const;
export type PlatformRole = (typeof platformRoles)[number];
export const PlatformRole = z.enum(platformRoles);

/** Whether `role` is stronger than `other`. */
export function isRoleAbove(role: PlatformRole, other: PlatformRole): boolean {
  return platformRoles.indexOf(role) > platformRoles.indexOf(other);
}

export type PrincipalKind = 'user' | 'service_account' | 'background' | 'system';

/** A user has one profile key, which is regenerated in place, and any number of personal ones. */
export const apiKeyKinds = ['profile', 'personal', 'service_account'] as const;
export type ApiKeyKind = (typeof apiKeyKinds)[number];

export const apiKeyStates = ['active', 'expired', 'revoked'] as const;
export type ApiKeyState = (typeof apiKeyStates)[number];

export const Email = z.email({ error: 'expected an e-mail address such as ana@example.com' }).max(254);

export const PersonName = z.string().trim().min(1, { error: 'must not be empty' }).max(200);

const fewestCharacters = 5;

const notPersonal = { path: ['password'], error: personalMessage };

/** The body that creates the first administrator. Its password must also have several different characters. */
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

/** Fields that are left out keep their values. Of themselves, users may change only the address and the name. */
export const UpdateUser = z.strictObject({
  email: Email.optional(),
  name: PersonName.optional(),
  role: PlatformRole.optional(),
  enabled: z.boolean().optional(),
  password: Password.optional(),
  expected_revision: z.int().min(1).optional(),
});
