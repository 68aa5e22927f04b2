import { z } from 'zod';

/** Everything that a connection provides to the tools of an attempt: environment variables, and files whose paths are in variables. */
export interface Delivery {
  /** Environment variables that are not secret, such as a region. Logs may show their values. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Environment variables with secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files, by the environment variable that names the file's path. */
  readonly files: Readonly<Record<string, string | LinkedFile>>;
}

/** A file whose text names the paths of other files. Paths are known only where the attempt executes. */
export interface LinkedFile {
  readonly text: string;
  /** The environment variables of other files, by the marks in the text that their paths replace. */
  readonly links: Readonly<Record<string, string>>;
}

/** What an attempt gets instead of stored credentials. */
export interface AttemptIdentity {
  /** A token for the audience of the connection. */
  readonly token: string;
  readonly runId: string;
}

/** The form of the credentials for some configs. The OpenAPI document contains the condition too. */
export interface CredentialsForm<Credentials> {
  /** The schema of the configs that need these credentials. */
  readonly when: z.ZodType;
  readonly credentials: z.ZodType<Credentials>;
  /** The schema for the OpenAPI document, if JSON Schema cannot express `credentials`. */
  readonly described?: z.ZodType;
}

/** One kind of connection. */
export interface KindDefinition<Config, Credentials> {
  /** Its purpose, for people. */
  readonly summary: string;
  /** The part that everybody who may read the connection sees. */
  readonly config: z.ZodType<Config>;
  /** The part that is never shown. */
  readonly credentials: z.ZodType<Credentials>;
  /**
   * The rules that choose the credentials for a config; the first that matches decides. A kind needs them if some configs accept only some
   * of `credentials`.
   */
  readonly forms?: readonly CredentialsForm<Credentials>[];
  /**
   * The URLs to which the service itself may send the credentials. They are checked when they are saved, and again before each connection.
   */
  readonly urls: (config: Config) => readonly string[];
  /** The audience of the token in its delivery; null or absent if it contains no token. */
  readonly audienceOf?: (config: Config) => string | null;
  /** @param identity of the attempt; `audienceOf` says whether it is needed */
  readonly deliver: (config: Config, credentials: Credentials, identity: AttemptIdentity) => Delivery;
}

/**
 * A field of a kind, with its texts for people: forms show the label and the hint, and the description of the API has both. The hint says
 * where to find the value, or what happens without one.
 */
export function field<Schema extends z.ZodType>(schema: Schema, label: string, hint?: string): Schema {
  return schema.meta({ title: label, ...(hint !== undefined && { description: hint }) });
}

/** Lets the compiler derive the types of a kind from its schemas. */
export function defineKind<Config, Credentials>(
  kind: KindDefinition<Config, Credentials>,
): KindDefinition<Config, Credentials> {
  return kind;
}

export const nothing: Delivery = { variables: {}, files: {} };

/** A secret on one line. Spaces at its ends are refused, since they come from copying and would break it. */
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
  .regex(/^[^\u0000\ud800-\udfff]*$/u, { error: 'must be text without NUL characters' });

/** Whether a text is a URL at all. The patterns accept some texts that are not URLs, such as one with a port above 65535. */
export const canBeUrl = (text: string) => URL.canParse(text);

/** Certificates of authorities in PEM, which are public. */
export const Certificates = z
  .string()
  .max(65_536)
  .regex(/^\s*(?:-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/, {
    error: 'expected certificates in PEM, each between BEGIN CERTIFICATE and END CERTIFICATE',
  });
