import { z } from 'zod';
import { invalidField } from '#domain/shared/errors.ts';
import { isCommonPassword } from './common-passwords.ts';

export const minimumPasswordLength = 8;
/** argon2 reads every byte; a bound keeps a request from buying minutes of work. */
export const maximumPasswordLength = 1024;

/** A password that somebody is given or chooses; whoever sets one also asks `isPersonal`. */
export const Password = z
  .string()
  .min(minimumPasswordLength, { error: tooShort(), abort: true })
  .max(maximumPasswordLength, { error: `must have at most ${maximumPasswordLength} characters`, abort: true })
  // A string's length counts what many characters beyond the usual ones take twice.
  .refine((text) => Array.from(text).length >= minimumPasswordLength, { error: tooShort(), abort: true })
  .refine((text) => text.trim() !== '', { error: 'must contain characters other than spaces', abort: true })
  .refine((text) => !isCommonPassword(text), {
    error: 'must not be one of the most common passwords: choose one that nobody would try',
  })
  .meta({ writeOnly: true });

/** Where a password is only compared: anything that could be one. */
export const GivenPassword = z.string().max(maximumPasswordLength).meta({ writeOnly: true });

export const personalMessage = 'must be neither the address nor the name';

export interface Person {
  readonly email: string;
  readonly name: string;
}

/** Whether a password says no more than who its owner is. */
export function isPersonal(password: string, { email, name }: Person): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/\s/g, '');
  const [account = ''] = email.split('@', 1);
  return [email, account, name].some((text) => plain(text) === plain(password));
}

/** @throws Invalid naming the field of the body that holds the password */
export function refusePersonal(field: string, password: string, person: Person): void {
  if (isPersonal(password, person)) throw invalidField(field, personalMessage);
}

function tooShort(): string {
  return `must have at least ${minimumPasswordLength} characters`;
}
