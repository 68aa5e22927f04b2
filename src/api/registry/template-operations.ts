import { z } from 'zod';
import { revisionOf } from '#api/pipeline/headers/if-match.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import {
  findTemplate,
  findTemplateOwner,
  findTemplateToChange,
  listTemplates,
  readTemplate,
  type TemplateTarget,
} from '#domain/registry/store.ts';
import {
  archiveTemplate,
  createTemplate,
  deleteTemplate,
  unarchiveTemplate,
  updateTemplate,
} from '#domain/registry/templates.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { findListOwner } from '#domain/shared/ownership-graph/list-owner.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { findTeamOrInstallation } from '#domain/teams/store.ts';
import { CreateTemplate, toNewTemplate, toTemplateChange, UpdateTemplate } from './bodies.ts';
import { TemplateView, viewTemplate } from './views.ts';

const TemplateParams = z.strictObject({ id: Id });

const accessReview = { resource: 'templates', unscoped: true, target: findTemplateOwner } as const;

export const readAccess: Access = {
  anyOf: ['template:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'get' },
};

/** A template without a team runs its code for every tenant, so only administrators may change it (access.md of the design). */
export const writeAccess: Access = {
  anyOf: ['template:write'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  installation: 'administrators',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'update' },
};

const ListQuery = z.strictObject({
  ...pageQuery,
  team_id: Id.optional(),
  tag: z.string().min(1).max(63).optional(),
  search: z.string().max(100).optional().describe('Text in the name, the slug or the description.'),
  ...archivedQuery,
});

export const list = read({
  id: 'templates.list',
  route: 'GET /api/v1/registry/templates',
  summary: 'List the templates that you may read',
  query: ListQuery,
  responses: { 200: pageOf('templates', TemplateView) },
  access: { ...readAccess, review: { ...accessReview, verb: 'list' } },
  target: ({ em, query }) => findListOwner(em, { team: query.team_id }),
  targetName: 'team',
  handle: async ({ em, principal, query }) => {
    const { team_id: teamId, tag, search, archived } = withArchivedFilter(query);
    const filter = { teamId, tag, search, archived };
    const page = await listTemplates(em, principal, filter, query);
    return { templates: page.items.map(viewTemplate), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'templates.get',
  route: 'GET /api/v1/registry/templates/:id',
  summary: 'Read a template',
  params: TemplateParams,
  responses: { 200: TemplateView },
  access: readAccess,
  target: ({ em, params }) => findTemplate(em, params.id),
  targetName: 'template',
  handle: async ({ em, params }) => {
    const template = await readTemplate(em, params.id);
    if (!template) throw new NotFound('template');
    return viewTemplate(template);
  },
});

export const create = command({
  id: 'templates.create',
  route: 'POST /api/v1/registry/templates',
  summary: 'Create a template; its versions are published one by one',
  body: CreateTemplate,
  responses: { 201: TemplateView },
  at: get,
  access: { ...writeAccess, review: { ...accessReview, verb: 'create' } },
  target: ({ em, body, lock }) => findTeamOrInstallation(em, body.team_id, lock),
  targetName: 'team',
  idempotency: 'none',
  audit: 'template.created',
  handle: async ({ tx, target, body }) => {
    const template = await createTemplate(tx, target, toNewTemplate(body));
    return { ...(await changeOf(tx, template)), after: { slug: template.slug } };
  },
});

export const update = command({
  id: 'templates.update',
  route: 'PATCH /api/v1/registry/templates/:id',
  summary: 'Change a template; what is left out stays',
  params: TemplateParams,
  body: UpdateTemplate,
  responses: { 200: TemplateView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findTemplateToChange(em, params.id, lock),
  targetName: 'template',
  idempotency: 'none',
  audit: 'template.updated',
  handle: async ({ tx, target, body }) => {
    const before = describeTemplate(target.template);
    await updateTemplate(tx, target, toTemplateChange(body));
    return { ...(await changeOf(tx, target.template)), before, after: describeTemplate(target.template) };
  },
});

export const archive = command({
  id: 'templates.archive',
  route: 'POST /api/v1/registry/templates/:id/archive',
  summary: 'Archive a template: it takes no new versions and no new runs',
  params: TemplateParams,
  responses: { 200: TemplateView },
  at: get,
  access: { ...writeAccess, review: { inherits: 'templates.update' } },
  target: ({ em, params, lock }) => findTemplateToChange(em, params.id, lock),
  targetName: 'template',
  idempotency: 'none',
  ifMatch: true,
  audit: 'template.archived',
  handle: async ({ tx, target, request }) => {
    refuseStale(target.template, revisionOf(request.headers));
    await archiveTemplate(tx, target);
    return { ...(await changeOf(tx, target.template)), after: {} };
  },
});

export const unarchive = command({
  id: 'templates.unarchive',
  route: 'POST /api/v1/registry/templates/:id/unarchive',
  summary: 'Make an archived template active again',
  params: TemplateParams,
  responses: { 200: TemplateView },
  at: get,
  access: { ...writeAccess, review: { inherits: 'templates.update' } },
  target: ({ em, params, lock }) => findTemplateToChange(em, params.id, lock),
  targetName: 'template',
  idempotency: 'none',
  ifMatch: true,
  audit: 'template.unarchived',
  handle: async ({ tx, target, request }) => {
    refuseStale(target.template, revisionOf(request.headers));
    await unarchiveTemplate(tx, target);
    return { ...(await changeOf(tx, target.template)), after: {} };
  },
});

export const remove = command({
  id: 'templates.delete',
  route: 'DELETE /api/v1/registry/templates/:id',
  summary: 'Delete a template that nothing uses; its slug is free again, and its runs stay',
  description:
    'Runs that have not ended use it, and instances that hold resources or may hold some. An instance that holds nothing stays, ' +
    'for another template or to be deleted.',
  params: TemplateParams,
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...accessReview, verb: 'delete' } },
  target: ({ em, params, lock }) => findTemplateToChange(em, params.id, lock),
  targetName: 'template',
  idempotency: 'none',
  ifMatch: true,
  audit: 'template.deleted',
  handle: async ({ tx, principal, target, request }) => {
    const { id, name, slug } = target.template;
    const revision = await deleteTemplate(tx, principal, target, revisionOf(request.headers));
    return { id, before: { name, slug }, revision };
  },
});

type Template = TemplateTarget['template'];

function describeTemplate({ name, slug, description, tags }: Template) {
  return { name, slug, description, tags };
}

async function changeOf(tx: Transaction, { id, revision }: Template) {
  return { id, revision, answer: viewTemplate(await readBack(readTemplate(tx.em, id))) };
}
