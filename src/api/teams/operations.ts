import { z } from 'zod';
import { OrganizationName, OrganizationParams } from '#api/organizations/operations.ts';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { toProperties } from '#api/pipeline/fields.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { archivingOperations } from '#api/tenancy/archiving-operations.ts';
import { CreateNamed, RenameNamed } from '#api/tenancy/bodies.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import type { Em } from '#database/database.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { readCallerAgain } from '#domain/shared/access/store.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { findTeam, findTeamById, findTeamToChange, listTeams, type TeamTarget } from '#domain/teams/store.ts';
import { createTeam, updateTeam } from '#domain/teams/teams.ts';
import { findTeamTransfer, transferTeam } from '#domain/teams/transfer.ts';
import { ListedTeamView, showTeam, TeamView, viewTeam } from './views.ts';

export const TransferTeam = z.strictObject({ organization_id: Id, ...ExpectedRevision }).meta({ id: 'TransferTeam' });

export const TeamParams = z.strictObject({ orgID: OrganizationName, id: Id });

/** A path names the team and its organization; an access review names only the team. */
export const accessReview = { resource: 'teams', parameter: 'id', target: findTeamById } as const;

export const readAccess: Access = {
  anyOf: ['team:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'get' },
};
const updateAccess: Access = {
  ...readAccess,
  anyOf: ['team:write'],
  teamAction: 'team.metadata.write',
  review: { ...accessReview, verb: 'update' },
};
/** Archiving, deleting and transferring a team require the permission to delete it. */
const archiveAccess: Access = {
  ...updateAccess,
  teamAction: 'team.delete',
  review: { ...accessReview, verb: 'archive' },
};

/** The team in a path; undefined if it belongs to another organization. */
export function teamOf(em: Em, { orgID, id }: z.output<typeof TeamParams>, lock = false) {
  return findTeam(em, { organization: orgID, id }, lock);
}

/** The same team, locked for a change if requested. */
export function teamToChange(em: Em, { orgID, id }: z.output<typeof TeamParams>, lock: boolean) {
  return findTeamToChange(em, { organization: orgID, id }, lock);
}

export const list = read({
  id: 'teams.list',
  route: 'GET /api/v1/organizations/:orgID/teams',
  summary: 'List the teams of an organization that you may read',
  params: OrganizationParams,
  query: z.strictObject({ ...pageQuery, ...archivedQuery }),
  responses: { 200: pageOf('teams', ListedTeamView) },
  access: {
    anyOf: ['team:read'],
    scope: 'organization',
    hidden: 'not_found',
    review: { resource: 'teams', verb: 'list' },
  },
  target: ({ em, params }) => findOrganization(em, params.orgID),
  targetName: 'organization',
  handle: async ({ em, principal, target, query }) => {
    const page = await listTeams(em, principal, target, withArchivedFilter(query));
    return { teams: page.items.map(viewTeam), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'teams.get',
  route: 'GET /api/v1/organizations/:orgID/teams/:id',
  summary: 'Read a team',
  params: TeamParams,
  responses: { 200: TeamView },
  access: readAccess,
  target: ({ em, params }) => teamOf(em, params),
  targetName: 'team',
  handle: async ({ em, target, operations, principal }) => showTeam(em, { operations, principal }, target),
});

export const create = command({
  id: 'teams.create',
  route: 'POST /api/v1/organizations/:orgID/teams',
  summary: 'Create a team; you become its owner',
  params: OrganizationParams,
  body: CreateNamed,
  responses: { 201: TeamView },
  at: get,
  access: {
    anyOf: ['team:write'],
    scope: 'organization',
    organizationRole: 'admin',
    hidden: 'not_found',
    principals: ['user'],
    review: { resource: 'teams', verb: 'create' },
  },
  target: ({ em, params, lock }) => findOrganization(em, params.orgID, lock),
  targetName: 'organization',
  idempotency: 'none',
  audit: 'team.created',
  handle: async ({ tx, principal, target, body, operations }) => {
    const team = await createTeam(tx.em, principal, target, body);
    const { name, slug } = team;
    const context = { operations, principal: await readCallerAgain(tx.em, principal) };
    return { ...(await changeOf(tx.em, context, team)), owners: team, after: { name, slug, owner: principal.id } };
  },
  atParams: ({ id }, { target }) => ({ orgID: target.organizationId, id }),
});

export const update = command({
  id: 'teams.update',
  route: 'PATCH /api/v1/organizations/:orgID/teams/:id',
  summary: 'Rename a team',
  params: TeamParams,
  body: RenameNamed,
  responses: { 200: TeamView },
  access: updateAccess,
  target: ({ em, params, lock }) => teamToChange(em, params, lock),
  targetName: 'team',
  idempotency: 'none',
  audit: 'team.updated',
  handle: async ({ tx, target, body, operations, principal }) => {
    const { updated, difference } = await updateTeam(tx.em, target, toProperties(body));
    const { before, after } = difference;
    return { ...(await changeOf(tx.em, { operations, principal }, updated)), before, after };
  },
});

export const { archive, unarchive, remove } = archivingOperations({
  level: 'team',
  path: '/api/v1/organizations/:orgID/teams/:id',
  params: TeamParams,
  view: TeamView,
  show: showTeam,
  summaries: {
    archive: 'Archive a team: it takes nothing new, and no run starts in it',
    unarchive: 'Take a team out of the archive',
    delete: 'Delete a team that owns nothing; its slug is free again',
  },
  access: {
    archive: archiveAccess,
    unarchive: { ...archiveAccess, review: { inherits: 'teams.archive' } },
    delete: { ...archiveAccess, review: { ...accessReview, verb: 'delete' } },
  },
  find: findTeamById,
  findToChange: teamToChange,
});

export const transfer = command({
  id: 'teams.transfer',
  route: 'POST /api/v1/organizations/:orgID/teams/:id/transfer',
  summary: 'Move a team, with everything that it owns, to another organization; its members must be members there',
  params: TeamParams,
  body: TransferTeam,
  responses: { 200: TeamView },
  access: { ...archiveAccess, review: { ...accessReview, verb: 'transfer' } },
  target: ({ em, params, body, lock }) =>
    findTeamTransfer(em, { organization: params.orgID, id: params.id, to: body.organization_id }, lock),
  targetName: 'team',
  idempotency: 'none',
  audit: 'team.transferred',
  handle: async ({ tx, principal, target, body, operations }) => {
    const transferred = await transferTeam(tx, principal, target, { expectedRevision: body.expected_revision });
    const [before, after] = [target, transferred].map(({ organizationId }) => ({ organizationId }));
    return {
      ...(await changeOf(tx.em, { operations, principal }, transferred)),
      owners: transferred,
      formerOwners: target,
      before,
      after,
    };
  },
});

async function changeOf(em: Em, context: ActionContext, team: TeamTarget) {
  return { id: team.id, revision: team.revision, answer: await showTeam(em, context, team) };
}
