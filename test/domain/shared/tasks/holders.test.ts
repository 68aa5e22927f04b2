import { expect, it } from 'vitest';
import { holdersOf } from '#domain/shared/tasks/holders.ts';

const owner = { organizationId: null, teamId: null };

it('service accounts hold their share together with the user who answers for them', () => {
  const [user] = holdersOf({ id: 'maintainer', responsibleUserId: 'maintainer' }, owner);
  const accounts = ['one', 'two'].map((id) => holdersOf({ id, responsibleUserId: 'maintainer' }, owner)[0]);
  expect(accounts).toEqual([user, user]);
});

it('a service account for which nobody answers holds a share of its own', () => {
  expect(holdersOf({ id: 'one', responsibleUserId: null }, owner)[0]).toBe('caller one');
});

it('what no organization owns is of its team, and else of the installation', () => {
  const caller = { id: 'one', responsibleUserId: null };
  expect(holdersOf(caller, { organizationId: 'acme', teamId: 'web' })[1]).toBe('owner acme');
  expect(holdersOf(caller, { organizationId: null, teamId: 'web' })[1]).toBe('owner web');
  expect(holdersOf(caller, owner)[1]).toBe('owner installation');
});
