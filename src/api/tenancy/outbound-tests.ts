import type { Principal } from '#domain/shared/access/principal.ts';
import { holdersOf } from '#domain/shared/tasks/limit-subject.ts';
import { ShareLimit } from '#domain/shared/tasks/share-limit.ts';

const tests = new ShareLimit({
  max: 4,
  refusal: 'you or this owner have four running tests, and may not have more: wait until one has ended',
});

/**
 * Runs a test that connects to a server of the client's choice, which may hang. In this process, each responsible user and each owner may
 * have at most four running tests.
 * @throws ServiceError (`limited`) if there are more
 */
export function limitTest<Result>(
  principal: Pick<Principal, 'id' | 'responsibleUserId'>,
  owner: { readonly organizationId: string | null; readonly teamId: string | null },
  task: (holders: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const holders = holdersOf(principal, owner);
  return tests.run(holders, () => task(holders));
}
