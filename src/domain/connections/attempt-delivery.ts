import type { Em } from '#database/database.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { mintToken, type TokenRequest } from '#domain/workload-identity/tokens/mint.ts';
import { openCredentials, type SealedCredentials } from './envelope.ts';
import type { Delivery } from './kinds/kind.ts';
import { type ConnectionKind, kindOf } from './kinds/kinds.ts';

/** A connection whose credentials an attempt will get. */
export interface DeliveredConnection extends SealedCredentials {
  readonly id: string;
  readonly kind: ConnectionKind;
  readonly config: unknown;
  readonly credentialRevision: number;
}

/** The attempt that gets them, the worker that executes it, and who issues its tokens. */
export interface ReceivingAttempt extends Omit<TokenRequest, 'audience'> {
  readonly runId: string;
}

interface Delivered {
  /** The environment variable that holds the value, or the path of the file. */
  readonly name: string;
  /** A stable identity of the content, if the content differs in each attempt. */
  readonly identity?: string;
}

/** What a connection provides to one attempt. It stays in the worker and its executor: never store or log it. */
export interface AttemptDelivery {
  readonly variables: readonly (Delivered & { readonly value: string; readonly sensitive: boolean })[];
  readonly files: readonly (Delivered & { readonly text: string; readonly links?: Readonly<Record<string, string>> })[];
}

/**
 * Opens the credentials of a connection for an attempt, or signs a token for it. Call it in the transaction that decides that the attempt
 * may have them.
 * @throws CredentialsUnavailable; for a token, as `mintToken`
 */
export async function deliverToAttempt(
  em: Em,
  keyRing: KeyRing,
  connection: DeliveredConnection,
  { runId, ...attempt }: ReceivingAttempt,
): Promise<AttemptDelivery> {
  const { config: schema, credentials: secrets, audienceOf, deliver } = kindOf(connection.kind);
  const config = schema.parse(connection.config);
  const credentials = secrets.parse(openCredentials(keyRing, connection));
  const audience = audienceOf?.(config) ?? null;
  if (audience === null) return toAttempt(deliver(config, credentials, { token: '', runId }), null);
  const token = await mintToken(em, keyRing, { ...attempt, audience });
  return toAttempt(deliver(config, credentials, { token, runId }), `${connection.id}.${connection.credentialRevision}`);
}

/** @param of the source of the delivery, if its content differs in each attempt */
function toAttempt({ settings = {}, variables, files }: Delivery, of: string | null): AttemptDelivery {
  const named = (name: string) => ({ name, ...(of !== null && { identity: `${of}.${name}` }) });
  const valuesOf = (values: Readonly<Record<string, string>>, sensitive: boolean) =>
    Object.entries(values).map(([name, value]) => ({ ...named(name), value, sensitive }));
  return {
    variables: [...valuesOf(settings, false), ...valuesOf(variables, true)],
    files: Object.entries(files).map(([name, file]) => ({
      ...named(name),
      ...(typeof file === 'string' ? { text: file } : file),
    })),
  };
}
