import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeOf, changeSince } from '#api/pipeline/audit/unchanged.ts';
import { toProperties } from '#api/pipeline/fields.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, Nothing, pageOf, repeated } from '#api/pipeline/schemas.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import { accessReview, readAccess } from '#domain/registry/access.ts';
import { listTemplates, loadReadme, readLastRuns } from '#domain/registry/catalog-store.ts';
import { findTemplate, findTemplateToChange, type TemplateTarget } from '#domain/registry/store.ts';
import {
  archiveTemplate,
  createTemplate,
  deleteTemplate,
  unarchiveTemplate,
  updateTemplate,
} from '#domain/registry/templates.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { findTeamOrInstallation } from '#domain/teams/store.ts';
import { showTemplate } from './actions.ts';
import { CreateTemplate, UpdateTemplate } from './bodies.ts';
import { ListedTemplateView, TemplateView, viewListed } from './views.ts';

const TemplateParams = z.strictObject({ id: Id });

/** A template without a team runs its code for every tenant, so only administrators may change it. */
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
  organization_id: Id.optional().describe("The templates of the organization's teams that you may read."),
  with_installation: Flag.default('false').describe('Those of the whole installation as well.'),
  tag: repeated(z.string().min(1).max(63), { max: 20 }).describe(
    'Repeat it for templates that have all of these tags.',
  ),
  q: z.string().max(100).optional().describe('Text in the name, the slug or the description, in any case.'),
  ...archivedQuery,
});

export const list = readList({
  id: 'templates.list',
  route: 'GET /api/v1/registry/templates',
  summary: 'List the templates that you may read',
  query: ListQuery,
  responses: { 200: pageOf('templates', ListedTemplateView) },
  access: { ...readAccess, review: { ...accessReview, verb: 'list' } },
  owners: { organization: 'organization_id', team: 'team_id' },
  handle: async ({ em, principal, query }) => {
    const { team_id: teamId, organization_id: organizationId, tag: tags = [], q: search } = query;
    const { archived } = withArchivedFilter(query);
    const withInstallation = query.with_installation === 'true';
    const filter = { teamId, organizationId, withInstallation, tags, search, archived };
    const { items, nextCursor } = await listTemplates(em, principal, filter, query);
    const lastRuns = await readLastRuns(
      em,
      principal,
      items.map(({ id }) => id),
    );
    return { templates: items.map((each) => viewListed(each, lastRuns.get(each.id))), next_cursor: nextCursor };
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
  handle: ({ em, operations, principal, target }) => showTemplate({ em, operations, principal }, target),
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
    const template = await createTemplate(tx, target, toProperties(body));
    return { ...changeOf(template), after: { slug: template.slug } };
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
    await loadReadme(tx.em, target.template);
    const { revision } = target.template;
    const before = describeTemplate(target.template);
    await updateTemplate(tx, target, toProperties(body));
    return changeSince(revision, target.template, { before, after: describeTemplate(target.template) });
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
  handle: async ({ tx, target, expectedRevision }) => {
    refuseStale(target.template, expectedRevision);
    const { revision } = target.template;
    await archiveTemplate(tx, target);
    return changeSince(revision, target.template, { after: {} });
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
  handle: async ({ tx, target, expectedRevision }) => {
    refuseStale(target.template, expectedRevision);
    const { revision } = target.template;
    await unarchiveTemplate(tx, target);
    return changeSince(revision, target.template, { after: {} });
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
  handle: async ({ tx, principal, target, expectedRevision }) => {
    const { id, name, slug } = target.template;
    const revision = await deleteTemplate(tx, principal, target, expectedRevision);
    return { id, before: { name, slug }, revision };
  },
});

type Template = TemplateTarget['template'];

/** The readme is too long for a record: its digest says whether it has changed. */
function describeTemplate({ name, slug, description, readme, tags }: Template) {
  const readmeDigest = `sha256:${createHash('sha256').update(readme).digest('hex')}`;
  return { name, slug, description, readmeDigest, tags };
}
