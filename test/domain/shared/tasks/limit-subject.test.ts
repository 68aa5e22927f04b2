import { expect, it } from 'vitest';
import { holdersOf, limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';

const owner = { organizationId: null, teamId: null };

it('service accounts share their limit with their responsible user', () => {
  const [user] = holdersOf({ id: 'maintainer', responsibleUserId: 'maintainer' }, owner);
  const accounts = ['one', 'two'].map((id) => holdersOf({ id, responsibleUserId: 'maintainer' }, owner)[0]);
  expect(accounts).toEqual([user, user]);
});

it('a service account without a responsible user has its own limit', () => {
  expect(holdersOf({ id: 'one', responsibleUserId: null }, owner)[0]).toBe('caller one');
});

it('a task counts for the owning organization, else for the team, else for the installation', () => {
  const caller = { id: 'one', responsibleUserId: null };
  expect(holdersOf(caller, { organizationId: 'acme', teamId: 'web' })[1]).toBe('owner acme');
  expect(holdersOf(caller, { organizationId: null, teamId: 'web' })[1]).toBe('owner web');
  expect(holdersOf(caller, owner)[1]).toBe('owner installation');
});

it('the service accounts of one person count as that person, and each in one of its organizations', () => {
  const caller = (id: string, organizations: Record<string, 'member'>) =>
    limitSubjectOfCaller({ id, responsibleUserId: 'ana', organizations });
  const subject = { person: 'ana', owner: 'acme' };
  expect(caller('one', { globex: 'member', acme: 'member' })).toEqual(subject);
  expect(caller('two', { acme: 'member' })).toEqual(subject);
  expect(caller('ana', {})).toEqual({ person: 'ana', owner: 'ana' });
});
