import { z } from 'zod';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { type MemberChange, membershipLocks, removeMember, setMember } from '#domain/members/members.ts';
import type { MembershipOwners } from '#domain/members/rules.ts';
import type { MemberRoles, MembershipLevel } from '#domain/memberships/model.ts';
import { findMember, findMemberPrincipal, listMembers } from '#domain/memberships/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { describeMemberActions } from './actions.ts';
import {
  type MemberAnswer,
  type MemberDetailsAnswer,
  type SentMember,
  type SentMemberDetails,
  viewMember,
} from './views.ts';

/** The parameters in the paths of organizations and teams. */
interface OwnerPaths {
  readonly organization: { readonly orgID: string };
  readonly team: { readonly orgID: string; readonly id: string };
}
type MemberPath<Level extends MembershipLevel> = OwnerPaths[Level] & { readonly userID: string };

/** The differences between the operations on members of organizations and those on members of teams. */
export interface MemberOperations<Level extends MembershipLevel> {
  readonly level: Level;
  /** The path of the list. The path of a member is derived from it. */
  readonly path: `/${string}/members`;
  readonly ownerParams: z.ZodType<OwnerPaths[Level]>;
  readonly memberParams: z.ZodType<MemberPath<Level>>;
  readonly body: z.ZodObject & z.ZodType<{ role: MemberRoles[Level]; expected_revision?: number | undefined }>;
  readonly view: z.ZodType<MemberAnswer<string>, SentMember<string>>;
  readonly details: z.ZodType<MemberDetailsAnswer<string>, SentMemberDetails<string>>;
  readonly summaries: Readonly<Record<'list' | 'get' | 'set' | 'remove', string>>;
  /** `leave`: the access that users need to end their own membership. */
  readonly access: Readonly<Record<'list' | 'set' | 'remove' | 'leave', Access>>;
  readonly find: (em: Em, path: OwnerPaths[Level]) => Promise<MembershipOwners[Level] | undefined>;
  /** Locks the owner for a change inside a command. */
  readonly findToChange: (
    em: Em,
    path: OwnerPaths[Level],
    lock: boolean,
  ) => Promise<MembershipOwners[Level] | undefined>;
}

export function memberOperations<Level extends MembershipLevel>(declared: MemberOperations<Level>) {
  return {
    list: listOperation(declared),
    get: getOperation(declared),
    set: setOperation(declared),
    remove: removeOperation(declared),
  };
}

function listOperation<Level extends MembershipLevel>(declared: MemberOperations<Level>) {
  const { level, path, ownerParams, view, summaries, access, find } = declared;
  return read({
    id: `${level}_members.list`,
    route: `GET ${path}`,
    summary: summaries.list,
    params: ownerParams,
    query: z.strictObject(pageQuery),
    responses: { 200: pageOf('members', view) },
    access: access.list,
    target: ({ em, params }) => find(em, params),
    targetName: level,
    handle: async ({ em, target, query }) => {
      const page = await listMembers(em, level, target.id, query);
      return { members: page.items.map(viewMember), next_cursor: page.nextCursor };
    },
  });
}

function getOperation<Level extends MembershipLevel>(declared: MemberOperations<Level>) {
  const { level, path, memberParams, details, summaries, access, find } = declared;
  return read({
    id: `${level}_members.get`,
    route: `GET ${path}/:userID`,
    summary: summaries.get,
    params: memberParams,
    responses: { 200: details },
    access: access.list,
    target: ({ em, params }) => find(em, params),
    targetName: level,
    handle: async ({ em, target, params, operations, principal }) => {
      const member = await findMember(em, level, target.id, params.userID);
      if (!member) throw new NotFound('member');
      const actions = await describeMemberActions(em, { operations, principal }, level, target, member);
      return { ...viewMember(member), actions };
    },
  });
}

function setOperation<Level extends MembershipLevel>(declared: MemberOperations<Level>) {
  const { level, path, memberParams, body, details, summaries, access } = declared;
  return command({
    id: `${level}_members.set`,
    route: `PUT ${path}/:userID`,
    summary: summaries.set,
    params: memberParams,
    body,
    responses: { 200: details },
    access: access.set,
    target: ({ em, params, lock }) => findForMember(declared, em, params, lock),
    targetName: level,
    idempotency: 'none',
    locks: membershipLocks,
    audit: `${level}_member.set`,
    handle: async ({ tx, principal, target, params, body, operations }) => {
      const wanted = { role: body.role, expectedRevision: body.expected_revision };
      const change = await setMember(tx.em, principal, level, target, target.joiner, wanted);
      const { revision } = change.after;
      const actions = await describeMemberActions(tx.em, { operations, principal }, level, target, change.after);
      const answer = { ...viewMember(change.after), actions };
      return { ...describeChange(params.userID, change), revision, answer };
    },
  });
}

function removeOperation<Level extends MembershipLevel>(declared: MemberOperations<Level>) {
  const { level, path, memberParams, summaries, access } = declared;
  return command({
    id: `${level}_members.remove`,
    route: `DELETE ${path}/:userID`,
    summary: summaries.remove,
    params: memberParams,
    responses: { 204: Nothing },
    access: access.remove,
    ownAccess: { parameter: 'userID', access: access.leave },
    target: ({ em, params, lock }) => findForMember(declared, em, params, lock),
    targetName: level,
    ifMatch: true,
    idempotency: 'none',
    locks: membershipLocks,
    audit: `${level}_member.removed`,
    handle: async ({ tx, principal, target, params, expectedRevision }) => {
      const ended = { userId: params.userID, expectedRevision };
      const change = await removeMember(tx.em, principal, level, target, ended);
      return describeChange(params.userID, change);
    },
  });
}

/** Locks the user or service account whose authority changes, then the owner, so that the owner's memberships change one at a time. */
async function findForMember<Level extends MembershipLevel>(
  { findToChange }: MemberOperations<Level>,
  em: Em,
  path: MemberPath<Level>,
  lock: boolean,
) {
  const joiner = await findMemberPrincipal(em, path.userID, lock);
  const owner = await findToChange(em, path, lock);
  return owner && { ...owner, joiner };
}

/** The change of a membership as the audit stores it. */
function describeChange(userId: string, { before, after }: MemberChange<string>) {
  const facts = (member: MemberChange<string>['after']) => member && { role: member.role, membershipId: member.id };
  const compared = { before: facts(before), after: facts(after) };
  return { id: userId, ...comparedIf(before?.revision !== after?.revision, compared) };
}
