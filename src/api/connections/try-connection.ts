import type { Services } from '#api/services.ts';
import type { ConnectionDetails } from '#domain/connections/store.ts';
import { readSeals } from '#domain/connections/store.ts';
import { type Trial, tryConnection as trial } from '#domain/connections/trial/trial.ts';
import { NotFound } from '#domain/shared/errors.ts';

/** Tries a connection as it is saved. It waits for the other system, so it must not run in a transaction. */
export async function tryConnection(
  { orm, keyRing, outboundHttp: http, config }: Services,
  connection: ConnectionDetails,
  { repository, holders }: { readonly repository: string | undefined; readonly holders: readonly string[] },
): Promise<Trial> {
  const seals = await readSeals(orm.em.fork(), connection.id);
  if (!seals) throw new NotFound('connection');
  const { outbound: policy, issuer } = config;
  return trial({ keyRing, http, policy, issuer, holders }, { ...connection, ...seals }, repository);
}
