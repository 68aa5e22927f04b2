import type { z } from 'zod';
import { checkOutboundField } from '#domain/shared/outbound/outbound.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { describeIssues, type FieldProblem, invalidRequest } from '#domain/shared/validation/validation-messages.ts';
import { IssuerUnknown } from '#domain/workload-identity/errors.ts';
import { type ConnectionKind, kindOf } from './kinds/kinds.ts';

/** Settings and credentials that fit their kind and each other. Never show or log the credentials. */
export interface CheckedSettings {
  readonly config: Record<string, unknown>;
  readonly credentials: Record<string, unknown>;
  /** The environment variables that an attempt gets from them. */
  readonly provides: string[];
}

interface GivenSettings {
  readonly kind: ConnectionKind;
  readonly config: unknown;
  readonly credentials: unknown;
}

/** The settings of the installation that limit connections. */
export interface Circumstances {
  readonly outbound: OutboundPolicy;
  /** Null: the service cannot issue tokens. */
  readonly issuer: string | null;
}

const maxBytes = 128 * 1024;
/** A placeholder for the identity of an attempt, used if only the names of the delivered variables and files matter. */
const noIdentity = { token: '', runId: '' };

/**
 * Checks the settings of a connection, and that the service may connect to the systems that would get the credentials. This may resolve
 * names, so it does not belong in a transaction.
 * @throws Invalid naming the fields; IssuerUnknown; Unprocessable or Unavailable for a URL, as `checkOutboundField`
 */
export async function checkSettings(
  { kind, ...given }: GivenSettings,
  { outbound, issuer }: Circumstances,
): Promise<CheckedSettings> {
  const { config: schema, urls, audienceOf, deliver } = kindOf(kind);
  const config = parse(schema, given.config, 'config');
  const credentials = parse(credentialsFor(kind, config), given.credentials, 'credentials');
  if (issuer === null && audienceOf && audienceOf(config) !== null) throw new IssuerUnknown();
  const { settings = {}, variables, files } = deliver(config, credentials, noIdentity);
  for (const url of urls(config))
    await checkOutboundField(fieldOf(config, url), url, outbound, { schemes: ['https', 'ssh'] });
  return { config, credentials, provides: [settings, variables, files].flatMap(Object.keys).sort() };
}

/**
 * Finds the problems that `checkSettings` would find without connecting to anything. If the config decides the form of the credentials, it
 * checks them only once the config is right.
 */
export function findSettingsProblems({ kind, ...given }: GivenSettings): FieldProblem[] {
  const { config: schema, forms } = kindOf(kind);
  const { data: config, problems } = examine(schema, given.config, 'config');
  if (config === undefined && forms !== undefined) return problems;
  return [...problems, ...examine(credentialsFor(kind, config), given.credentials, 'credentials').problems];
}

/** The credentials that fit a config. */
function credentialsFor(kind: ConnectionKind, config: unknown) {
  const { credentials, forms } = kindOf(kind);
  return forms?.find(({ when }) => when.safeParse(config).success)?.credentials ?? credentials;
}

/** The field of the config that a URL was made of: the longest of the values that the URL contains. */
function fieldOf(config: object, url: string): string {
  const contained = Object.entries(config).filter(([, value]) => typeof value === 'string' && url.includes(value));
  const [name] = contained.toSorted(([, a], [, b]) => String(b).length - String(a).length)[0] ?? [];
  return name === undefined ? 'config' : `config.${name}`;
}

function parse<T>(schema: z.ZodType<T>, value: unknown, place: string): T {
  const { data, problems } = examine(schema, value, place);
  if (data === undefined) throw invalidRequest(problems);
  return data;
}

/** Messages of the schemas name fields and rules, and never repeat a value. If there are problems, there is no data. */
function examine<T>(schema: z.ZodType<T>, value: unknown, place: string): { data?: T; problems: FieldProblem[] } {
  if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
    const message = `${place}: must have at most ${maxBytes / 1024} KiB`;
    return { problems: [{ in: 'body', path: place, message }] };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data, problems: [] };
  const rejected = { part: 'body', data: { [place]: value }, known: [] } as const;
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [place, ...issue.path] }));
  return { problems: describeIssues(rejected, issues) };
}
