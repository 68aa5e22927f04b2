import { z } from 'zod';
import { Email, PersonName, type UserChange } from '#domain/identity/model.ts';
import { isPersonal, Password, personalMessage } from '#domain/identity/passwords/rules.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';

/** The bodies of requests that create or change users. */

const notPersonal = { path: ['password'], error: personalMessage };
const minCharacters = 5;

/** The body that creates the first administrator. Its password must also have several different characters. */
export const FirstAdministrator = z
  .strictObject({ email: Email, name: PersonName, password: Password })
  .refine(({ password }) => new Set(password).size >= minCharacters, {
    path: ['password'],
    error: `must have at least ${minCharacters} different characters`,
  })
  .refine((user) => !isPersonal(user.password, user), notPersonal)
  .meta({ id: 'CreateFirstAdministrator' });

export const CreateUser = z
  .strictObject({
    email: Email,
    name: PersonName,
    password: Password,
    role: PlatformRole,
    enabled: z.boolean().default(true),
  })
  .refine((user) => !isPersonal(user.password, user), notPersonal)
  .meta({ id: 'CreateUser' });

/** The changes that users may make to themselves: only the address and the name. */
export const UpdateUser = z
  .strictObject({
    email: Email.optional(),
    name: PersonName.optional(),
    role: PlatformRole.optional(),
    enabled: z.boolean().optional(),
    password: Password.optional(),
    revoke_api_keys: z
      .boolean()
      .optional()
      .describe(
        'With a new password: whether all API keys of the user are revoked too. They stay unless you ask for it.',
      ),
    ...ExpectedRevision,
  })
  .refine(({ password, revoke_api_keys: revokes }) => password !== undefined || revokes === undefined, {
    path: ['revoke_api_keys'],
    error: 'goes together with a new password: send it only with "password"',
  })
  .meta({ id: 'UpdateUser' });

export function toUserChange({
  expected_revision,
  password: _,
  revoke_api_keys: __,
  ...change
}: z.output<typeof UpdateUser>): UserChange {
  return { ...change, expectedRevision: expected_revision };
}
