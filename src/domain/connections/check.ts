import type { z } from 'zod';
import { Invalid } from '#domain/shared/errors.ts';
import { checkOutbound } from '#domain/shared/outbound/outbound.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
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

const mostBytes = 128 * 1024;

/**
 * Checks the settings of a connection, and that the service may connect to where it would send the credentials. This may resolve names,
 * so it does not belong in a transaction.
 * @throws Invalid naming the fields; Unprocessable or Unavailable for a URL, as `checkOutbound`
 */
export async function checkSettings(
  { kind, ...given }: GivenSettings,
  policy: OutboundPolicy,
): Promise<CheckedSettings> {
  const { config: schema, credentials: secrets, findMisfit, urls, deliver } = kindOf(kind);
  const config = parse(schema, given.config, 'config');
  const credentials = parse(secrets, given.credentials, 'credentials');
  const misfit = findMisfit?.(config, credentials) ?? null;
  if (misfit !== null) throw new Invalid(misfit);
  const { variables, files } = deliver(config, credentials);
  for (const url of urls(config)) await checkOutbound(url, policy, { schemes: ['https', 'ssh'] });
  return { config, credentials, provides: [...Object.keys(variables), ...Object.keys(files)].sort() };
}

/** Messages of the schemas name fields and rules, and never repeat a value. */
function parse<T>(schema: z.ZodType<T>, value: unknown, place: string): T {
  if (Buffer.byteLength(JSON.stringify(value)) > mostBytes)
    throw new Invalid(`${place}: must have at most ${mostBytes / 1024} KiB`);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map((issue) => {
    const path = [place, ...issue.path].join('.');
    return { in: 'body', path, message: `${path}: ${issue.message}` };
  });
  throw new Invalid(errors.map(({ message }) => message).join('; '), { errors });
}
