import { z } from 'zod';
import { findUnstorableText } from '#domain/shared/values/storable.ts';

/** Everything that a connection gives the tools of an attempt: environment variables, and files whose paths are in variables. */
export interface Delivery {
  readonly variables: Readonly<Record<string, string>>;
  /** Text of files, by the environment variable that names the file's path. */
  readonly files: Readonly<Record<string, string>>;
}

/** One kind of connection. */
export interface KindDefinition<Config, Credentials> {
  /** What it is for, for people. */
  readonly summary: string;
  /** What everybody who may read the connection sees. */
  readonly config: z.ZodType<Config>;
  /** What nobody is ever shown. */
  readonly credentials: z.ZodType<Credentials>;
  /** Why these credentials do not fit the config, as `<field>: <reason>`; null if they do. */
  readonly findMisfit?: (config: Config, credentials: Credentials) => string | null;
  /** The URLs to which the service itself may send the credentials. They are checked when they are saved, and again when they are dialled. */
  readonly urls: (config: Config) => readonly string[];
  readonly deliver: (config: Config, credentials: Credentials) => Delivery;
}

/** Lets the compiler derive the types of a kind from its schemas. */
export function defineKind<Config, Credentials>(
  kind: KindDefinition<Config, Credentials>,
): KindDefinition<Config, Credentials> {
  return kind;
}

export const nothing: Delivery = { variables: {}, files: {} };

/** A secret on one line. Spaces at its ends are refused, since they come from copying and make it wrong. */
export const Secret = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, {
    error: 'expected printable ASCII characters on one line, without spaces around them',
  });

/** A secret of several lines, such as a key or a file. */
export const SecretText = z
  .string()
  .min(1)
  .max(65_536)
  .refine((text) => findUnstorableText(text, 65_536) === null, { error: 'must be text without NUL characters' });

/** Certificates of authorities in PEM, which are public. */
export const Certificates = z
  .string()
  .max(65_536)
  .regex(/^\s*(?:-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/, {
    error: 'expected certificates in PEM, each between BEGIN CERTIFICATE and END CERTIFICATE',
  });
