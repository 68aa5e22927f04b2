import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

export type Setting = {
  /** Parses the text of the environment variable. */
  readonly schema: z.ZodType<unknown, string>;
  /** The default, written as an environment value; null: no default. */
  readonly default: string | null;
  readonly description: string;
  /** The setting may also come from a file, which the variable `<NAME>_FILE` names. */
  readonly isSecret?: true;
};

/**
 * The kinds of value that a setting may have. Every schema parses the text of one environment variable. Its messages complete the sentence
 * "NAME …" and say what would be right.
 */
export const anyText = z.string();

export function textLike(pattern: RegExp, expectation: string) {
  return z.string().refine((text) => pattern.test(text), { error: `must be ${expectation}` });
}

export const host = textLike(/^(?=.{1,253}$)[A-Za-z0-9_.:-]+$/, 'a host name or an IP address without a port');

export const boolean = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no'], { error: 'must be true or false' }))
  .transform((text) => text === 'true' || text === '1' || text === 'yes');

export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** A comma-separated list; empty entries are dropped. */
export function listOf(isValid: (entry: string) => boolean, expectation: string) {
  return z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .transform((entries) => entries.filter((entry) => entry !== ''))
    .refine((entries) => entries.length > 0 && entries.every(isValid), {
      error: `must be a comma-separated list of ${expectation}`,
    });
}

export function isAddressOrRange(entry: string): boolean {
  return ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry);
}

/** `http(s)://host[:port]` without a path, query, fragment or credentials; the trailing slash is dropped. */
export const origin = z
  .string()
  .refine((text) => isOrigin(text), {
    error: 'must be an http or https URL without a path, for example https://coordinator.example.com',
  })
  .transform((text) => new URL(text).origin);

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

export const postgresUrl = z.string().refine((text) => /^postgres(ql)?:\/\/./i.test(text) && URL.canParse(text), {
  error: 'must be a PostgreSQL URL such as postgres://user:password@host:5432/database',
});

/** An SMTP server with the account for sending. */
export type SmtpServer = {
  /** `smtp://host:port` or `smtps://host:port`, without the account. */
  readonly url: string;
  readonly account: { readonly user: string; readonly password: string } | null;
};

/** `smtp(s)://[user:password@]host[:port]`. The message never repeats the value. */
export const smtpServer = z.string().transform((text, context): SmtpServer => {
  const url = /^smtps?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url && url.hostname !== '' && url.pathname.replace('/', '') === '' && url.search === '' && url.hash === '';
  if (!isPlain || (url.username === '') !== (url.password === '')) {
    const message =
      'must be an SMTP server such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
  const account = { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  return { url: `${url.protocol}//${url.host}`, account: url.username === '' ? null : account };
});

/** `address` or `Name <address>`, as one header field. */
export const mailSender = z.string().transform((text, context): { name: string; address: string } => {
  const [, name = '', address = text] = /^([^<>\r\n]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  if (/^[^\s@<>,;:"]{1,64}@[^\s@<>,;:"]{1,189}$/.test(address.trim()))
    return { name: name.trim(), address: address.trim() };
  const message = 'must be an e-mail address, or a name and an address such as "Delivery <delivery@example.com>"';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** The content of a readable, non-empty file. */
export const fileContent = z.string().transform((path, context) => {
  try {
    const content = readFileSync(path);
    if (content.length > 0) return content;
    context.addIssue({ code: 'custom', message: `names an empty file (${path}); give the path of a PEM file` });
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    context.addIssue({ code: 'custom', message: `names a file that cannot be read (${path}: ${reason})` });
  }
  return z.NEVER;
});

export type SecretKey = { readonly id: string; readonly key: Buffer };

const keyExpectation =
  'must be a comma-separated list of id:base64, newest first, where each key is 32 bytes ' +
  '(`openssl rand -base64 32` makes one) and each id is unique and has 1-32 letters, digits, "-" or "_"';

export const userName = textLike(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/, 'the name of an operating-system user');

/** The key ring. Its message never repeats the value. */
export const secretKeys = z.string().transform((text, context): SecretKey[] => {
  const entries = text.split(',').map((entry) => entry.trim());
  const keys = entries.map((entry) => {
    const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/.exec(entry) ?? [];
    return { id: id ?? '', key: Buffer.from(encoded ?? '', 'base64') };
  });
  const areDistinct = new Set(keys.map(({ id }) => id)).size === keys.length;
  if (areDistinct && keys.every(({ id, key }) => id !== '' && key.length === 32)) return keys;
  context.addIssue({ code: 'custom', message: keyExpectation });
  return z.NEVER;
});
