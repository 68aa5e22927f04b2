import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import {
  findResendingRefusal,
  findRevokingRefusal,
  type InvitationWithFacts,
  withInvitationFacts,
} from '#domain/invitations/actions.ts';
import { resendInvitation, revokeInvitation } from '#domain/invitations/invitations.ts';
import { listInvitations } from '#domain/invitations/status.ts';
import type { InvitationOwner, InvitationTarget } from '#domain/invitations/targets.ts';
import type { MembershipLevel } from '#domain/memberships/model.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { describeInvitation, InvitationView, SentInvitationView, sentChange, viewInvitation } from './views.ts';

/** The parameters in the paths of invitations and their owners. */
interface InvitationPaths {
  readonly organization: { readonly owner: { orgID: string }; readonly invitation: { orgID: string; id: string } };
  readonly team: {
    readonly owner: { orgID: string; id: string };
    readonly invitation: { orgID: string; id: string; invitationID: string };
  };
}

/** The differences between the operations on invitations into organizations and those on invitations into teams. */
interface InvitationOperations<Level extends MembershipLevel> {
  readonly level: Level;
  readonly path: `/${string}/invitations`;
  /** The parameter of an invitation's path that holds its id. */
  readonly idParameter: 'id' | 'invitationID';
  readonly ownerParams: z.ZodType<InvitationPaths[Level]['owner']>;
  readonly invitationParams: z.ZodType<InvitationPaths[Level]['invitation']>;
  readonly summaries: { readonly list: string; readonly get: string };
  readonly access: Access;
  readonly findOwner: (em: Em, path: InvitationPaths[Level]['owner']) => Promise<InvitationOwner | undefined>;
  readonly find: (
    em: Em,
    path: InvitationPaths[Level]['invitation'],
    lock: boolean,
  ) => Promise<InvitationTarget | undefined>;
}

/** The operations that both levels share; each level declares how it creates an invitation. */
export function invitationOperations<Level extends MembershipLevel>(declared: InvitationOperations<Level>) {
  const get = getOperation(declared);
  return {
    list: listOperation(declared),
    get,
    resend: resendOperation(declared, get),
    revoke: revokeOperation(declared),
  };
}

function listOperation<Level extends MembershipLevel>(declared: InvitationOperations<Level>) {
  const { level, path, ownerParams, summaries, access, findOwner } = declared;
  return read({
    id: `${level}_invitations.list`,
    route: `GET ${path}`,
    summary: summaries.list,
    params: ownerParams,
    query: z.strictObject(pageQuery),
    responses: { 200: pageOf('invitations', InvitationView) },
    access,
    target: ({ em, params }) => findOwner(em, params),
    targetName: level,
    handle: async ({ em, target, query }) => {
      const page = await listInvitations(em, target, query);
      return { invitations: page.items.map(viewInvitation), next_cursor: page.nextCursor };
    },
  });
}

function getOperation<Level extends MembershipLevel>(declared: InvitationOperations<Level>) {
  const { level, path, idParameter, invitationParams, summaries, access, find } = declared;
  return read({
    id: `${level}_invitations.get`,
    route: `GET ${path}/:${idParameter}`,
    summary: summaries.get,
    params: invitationParams,
    responses: { 200: InvitationDetailsView },
    access,
    target: ({ em, params }) => find(em, params, false),
    targetName: 'invitation',
    resource: 'invitations',
    handle: ({ em, target, operations, principal }) => showInvitation(em, { operations, principal }, level, target),
  });
}

function resendOperation<Level extends MembershipLevel>(
  declared: InvitationOperations<Level>,
  get: ReturnType<typeof getOperation<Level>>,
) {
  const { level, path, idParameter, invitationParams, access, find } = declared;
  return command({
    id: `${level}_invitations.resend`,
    route: `POST ${path}/:${idParameter}/resend`,
    summary: 'Send an invitation again, in your name, with a new token; the old token is no longer valid',
    params: invitationParams,
    responses: { 200: SentInvitationView },
    at: get,
    access,
    target: ({ em, params, lock }) => find(em, params, lock),
    targetName: 'invitation',
    resource: 'invitations',
    idempotency: 'none',
    showsOnce: true,
    audit: 'invitation.resent',
    handle: async ({ tx, principal, target, services }) => {
      const sent = await resendInvitation(tx.em, principal, target, target.invitation);
      return sentChange(tx.em, services, principal, sent);
    },
    atParams: (_, { target, params }) => ({ ...params, orgID: target.organizationId }),
  });
}

function revokeOperation<Level extends MembershipLevel>(declared: InvitationOperations<Level>) {
  const { level, path, idParameter, invitationParams, access, find } = declared;
  return command({
    id: `${level}_invitations.revoke`,
    route: `DELETE ${path}/:${idParameter}`,
    summary: 'Revoke an invitation that was not accepted',
    params: invitationParams,
    responses: { 204: Nothing },
    access,
    target: ({ em, params, lock }) => find(em, params, lock),
    targetName: 'invitation',
    resource: 'invitations',
    ifMatch: true,
    idempotency: 'none',
    audit: 'invitation.revoked',
    handle: async ({ tx, principal, target, expectedRevision }) => {
      refuseStale(target.invitation, expectedRevision);
      await revokeInvitation(tx.em, principal, target.invitation);
      const { revision, ...change } = describeInvitation(target.invitation);
      return { ...change, revision: revision + 1 };
    },
  });
}

const actionsAt = (level: MembershipLevel) =>
  actionsOf<InvitationWithFacts>()({
    resend: { operation: `${level}_invitations.resend`, findRefusal: findResendingRefusal },
    revoke: { operation: `${level}_invitations.revoke`, findRefusal: findRevokingRefusal },
  });

/** What a caller may do with an invitation, by the level whose path names it. */
const invitationActions = { organization: actionsAt('organization'), team: actionsAt('team') };

/** One invitation, with what the caller may do with it. */
const InvitationDetailsView = InvitationView.extend({ actions: invitationActions.organization.view }).meta({
  id: 'InvitationDetails',
});

/** Shows one invitation with the actions that the caller may take. */
async function showInvitation(
  em: Em,
  context: ActionContext,
  level: MembershipLevel,
  target: InvitationTarget,
): Promise<z.input<typeof InvitationDetailsView>> {
  const actions = invitationActions[level].describe(context, await withInvitationFacts(em, target));
  return { ...viewInvitation(target.invitation), actions };
}
