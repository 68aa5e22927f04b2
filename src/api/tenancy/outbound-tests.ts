import type { Principal } from '#domain/shared/access/principal.ts';
import { holdersOf } from '#domain/shared/tasks/limit-subject.ts';
import { ShareLimit } from '#domain/shared/tasks/share-limit.ts';

const tests = new ShareLimit({
  max: 4,
  refusal: 'four tests of yours, or of this owner, are under way: wait until one has ended',
});

/**
 * Runs a test that asks a server which a client chose, and which may hang. The user who answers for the caller has at most four such tests under way in
 * this process, and so has each owner.
 * @throws ServiceError (`limited`) beyond them
 */
export function limitTest<Result>(
  principal: Pick<Principal, 'id' | 'responsibleUserId'>,
  owner: { readonly organizationId: string | null; readonly teamId: string | null },
  task: (holders: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const holders = holdersOf(principal, owner);
  return tests.run(holders, () => task(holders));
}
