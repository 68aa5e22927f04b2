import type { Principal } from '#domain/shared/access/principal.ts';
import { ShareLimit } from '#domain/shared/tasks/share-limit.ts';

const tests = new ShareLimit({
  most: 4,
  refusal: 'four tests of yours, or of this owner, are under way: wait until one has ended',
});

/**
 * Runs a test that asks a server of a client, which may hang. A caller, and an owner, has at most four under way in this process.
 * @throws ServiceError (`limited`) beyond them
 */
export function limitTest<Result>(
  { id }: Pick<Principal, 'id'>,
  { organizationId, teamId }: { readonly organizationId: string | null; readonly teamId: string | null },
  task: (holders: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const holders = [`caller ${id}`, `owner ${organizationId ?? teamId ?? 'installation'}`];
  return tests.run(holders, () => task(holders));
}
