import type { Requirements } from './tally.ts';

const both = ['allowed', 'refused'] as const;
const carriedOut = ['allowed'] as const;

const places = ['organization', 'organization_descendants', 'team', 'project', 'environment', 'resource'];
const subjects = ['user', 'service_account', 'background_principal'];
const commands = [
  ...['assignment', 'review', 'revocation', 'activation', 'staging', 'ceiling', 'ceiling with executions'],
  ...['ceiling in force', 'creation of a resource', 'deletion of a resource', 'restoration'],
  ...['approval of a background principal', 'revocation of a background principal', 'removal of a plugin'],
];
const changes = [
  ...['joining', 'leaving'].flatMap((verb) => [`${verb} a team`, `${verb} an organization`]),
  ...['disabling', 'enabling'].flatMap((verb) => [`${verb} a user`, `${verb} a service account`]),
  ...['archive', 'unarchive'].flatMap((verb) =>
    ['organization', 'team', 'project', 'environment'].map((level) => `${verb} ${level}`),
  ),
  ...['transfer of an account of a team', 'transfer of an account of a user', 'transfer of a team'],
  ...['transfer of a project', 'deletion of an environment', 'creation of an environment'],
];

/** What has to be met: what the rules of plugins decide with both results, and every change on which assignments rely. */
export const required: Requirements = Object.fromEntries([
  ...places.flatMap((place) => [`use at ${place}`, `assignment at ${place}`]).map((kind) => [kind, both]),
  ...subjects.map((subject) => [`assignment to ${subject}`, both]),
  ...['use by user', 'use by service_account', ...commands].map((kind) => [kind, both]),
  ...changes.map((kind) => [kind, carriedOut]),
]);
