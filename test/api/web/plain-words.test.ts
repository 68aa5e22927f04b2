import { expect, it } from 'vitest';
import { toPlainWords } from '#api/web/plain-words.ts';
import { toFieldProblem, toSentence } from '#api/web/text.ts';
import { findWireWords } from '#test/support/pages/forms/wire-words.ts';

const id = '01a20897-0d6a-76bb-a6a0-427055f09c8b';
const labels = new Map([
  ['starts_at', 'From (UTC)'],
  ['environment_id', 'Environment'],
  ['template_id', 'Template'],
]);

it.each([
  ['field "name" is required', 'Enter a value.'],
  [
    'must be an object (the value is the one that is deployed: name another one, or omit it)',
    'The deployed value does not fit any more: enter another one, or empty the field.',
  ],
  [
    'must be at least 5 (the value is the one that is deployed: name another one, or omit it)',
    'Must be at least 5. This is the deployed value: enter another one, or empty the field.',
  ],
  ['field "name" must not be empty', 'Enter a value.'],
  ['field "name" must be a string, not null', 'Enter a value.'],
  ['field "name" must be a number, not a string', 'Enter a number.'],
  ['field "kind" must be one of apply, plan_only', 'Choose one of the options.'],
  ['field "isolation" must be "sandbox" or null', 'Choose one of the options.'],
  ['field "team_id": expected a lowercase UUID other than zero', 'This does not exist: choose another one.'],
  ['path parameter "userID": expected a lowercase UUID other than zero', 'This does not exist: choose another one.'],
  ['unknown field "credentials.private_key"', 'Leave this empty: it does not apply here.'],
  ['field "slug": expected 1-63 lowercase letters', 'Use 1-63 lowercase letters.'],
  ['field "ttl": expected a duration such as "30m"', 'Enter a duration such as "30m".'],
  ['field "ends_at": expected a time after starts_at', 'Enter a time after “From (UTC)”.'],
  ['is a role in a team: give its team_id as well', 'Is a role in a team: give its team as well.'],
  [
    'the body: expected exactly one of environment_id and template_id',
    'Choose exactly one of “Environment” and “Template”.',
  ],
  [`the organization of the instance has no team ${id}`, 'The organization of the instance has no such team.'],
  ['must have at most 100 characters', 'Must have at most 100 characters.'],
  ['there is no variable "db_password"', 'There is no variable "db_password".'],
])('%j becomes plain words: %j', (message, words) => {
  const said = message.startsWith('field "')
    ? toFieldProblem(message, undefined, labels)
    : toSentence(toPlainWords(message, labels));
  expect(said).toBe(words);
  if (!words.includes('db_password')) expect(findWireWords(said)).toEqual([]);
});

it.each([
  ['permission denied: the team role owner is above your own; this needs team.owner.manage', 'the team role owner'],
  ['you may ask where you may assign: permission denied: this needs run:approve', 'the platform role maintainer'],
  ['permission denied: publishing with a connection needs connection:use', 'the platform role maintainer'],
])('the denial %j names %s in place of a permission', (message, role) => {
  const said = toSentence(message);
  expect([said.endsWith(`eeds ${role}.`), findWireWords(said)]).toEqual([true, []]);
});

it.each([
  ['run:approve', 'the platform role maintainer'],
  ['connection:manage or connection:use', 'the platform role maintainer'],
  ['settings.manage', 'the platform role admin'],
  ['team.metadata.write in the team', 'the team role admin in the team'],
  ['team.metadata.write (the team role admin) in the team', 'the team role admin in the team'],
  [
    'connection:manage (the platform role maintainer) or run:approve (the platform role maintainer)',
    'the platform role maintainer',
  ],
  ['the organization role owner', 'the organization role owner'],
])('a denial for lack of %s names %s', (needed, role) => {
  expect(toSentence(`permission denied: this needs ${needed}`)).toBe(`Permission denied: this needs ${role}.`);
});
