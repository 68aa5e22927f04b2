import type { CommandOperation } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import { type FixtureApi, fixtures } from './command-fixtures.ts';
import { addTenant, bodies, type Ids, type Request } from './operation-requests.ts';

/** A request with which a command succeeds on a new tenant, with a new idempotency key if the command takes one. */
export async function requestOf(api: FixtureApi, operation: CommandOperation): Promise<Request> {
  const tenant = operation.id === 'bootstrap.admin' ? ({} as Ids) : await addTenant(api, api.root);
  const fixture = (await fixtures[operation.id]?.(api, tenant)) ?? {};
  const ids = fixture.ids ?? tenant;
  const body = operation.body && JSON.stringify(fixture.body ?? bodies[operation.id]?.(ids) ?? {});
  const headers = {
    ...fixture.headers,
    ...(operation.idempotency !== 'none' && { 'idempotency-key': newId() }),
  };
  return { ids, key: 'key' in fixture ? fixture.key : api.root.key, headers, path: fixture.path, body };
}
