import { z } from 'zod';
import { invalidField } from '#domain/shared/errors.ts';
import { isCommonPassword } from './common-passwords.ts';

const minPasswordLength = 8;
/** argon2 reads every byte, so without a limit one request could cause minutes of work. */
const maxPasswordLength = 1024;

/** A new password. Code that sets one must also check `isPersonal`. */
export const Password = z
  .string()
  .min(minPasswordLength, { error: tooShort(), abort: true })
  .max(maxPasswordLength, { error: `must have at most ${maxPasswordLength} characters`, abort: true })
  // The length of a string counts UTF-16 units, and many characters take two.
  .refine((text) => Array.from(text).length >= minPasswordLength, { error: tooShort(), abort: true })
  .refine((text) => text.trim() !== '', { error: 'must contain characters other than spaces', abort: true })
  .refine((text) => !isCommonPassword(text), {
    error: 'must not be one of the most common passwords: choose one that is hard to guess',
  })
  .meta({ writeOnly: true });

/** A password that is only compared. */
export const GivenPassword = z.string().max(maxPasswordLength).meta({ writeOnly: true });

export const personalMessage = 'must be neither the address nor the name';

export interface Person {
  readonly email: string;
  readonly name: string;
}

/** Whether a password is only the name or the e-mail address of its owner, or the part before the @. */
export function isPersonal(password: string, { email, name }: Person): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/\s/g, '');
  const [account = ''] = email.split('@', 1);
  return [email, account, name].some((text) => plain(text) === plain(password));
}

/** @throws Invalid naming the body's field with the password */
export function refusePersonal(field: string, password: string, person: Person): void {
  if (isPersonal(password, person)) throw invalidField(field, personalMessage);
}

function tooShort(): string {
  return `must have at least ${minPasswordLength} characters`;
}
