import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { deployedMembers, normalizeRun, RunBody } from '#api/runs/bodies.ts';
import { createRun } from '#api/runs/operations.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import { readAccess } from '#domain/registry/access.ts';
import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import { checkDraft } from '#domain/registry/publication/draft-check.ts';
import {
  type Publication,
  prepareVersion,
  publishVersion,
  yankVersion,
} from '#domain/registry/publication/publication.ts';
import { loadVersion, loadVersionById, type PublishedVersion } from '#domain/registry/publication/published.ts';
import {
  findTemplate,
  findTemplateToChange,
  findVersionToChange,
  type TemplateTarget,
} from '#domain/registry/store.ts';
import { filesToolsOf } from '#domain/registry/tools/usable-tools.ts';
import { maskVariables } from '#domain/registry/variables/variables.ts';
import { listVersions, readVersion, readVersionFile } from '#domain/registry/version-store.ts';
import { locateReferences } from '#domain/runs/references/resolve-references.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Invalid, NotFound, ServiceError, Unprocessable } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { CheckVersion, PublishVersion, ValidateVersion, YankVersion } from './bodies.ts';
import { refuseCheckPlace } from './check-place.ts';
import { refuseSchemaProblems } from './schema-problems.ts';
import { writeAccess } from './template-operations.ts';
import {
  CheckView,
  showVersion,
  ValidationView,
  VersionFileView,
  VersionSummaryView,
  VersionView,
  viewDraftCheck,
  viewFile,
  viewSummary,
} from './views.ts';
import { readFit, warningsOfFit } from './worker-fit.ts';

const RunVersion = RunBody.omit({ template_id: true, version: true })
  .extend(deployedMembers)
  .overwrite(normalizeRun)
  .meta({ id: 'RunTemplateVersion' });
const TemplateParams = z.strictObject({ id: Id });
const Wanted = z.string().min(1).max(128).describe('A version, a range such as ^1.2, or latest.');
const VersionParams = z.strictObject({ id: Id, version: Wanted });

export const list = read({
  id: 'template_versions.list',
  route: 'GET /api/v1/registry/templates/:id/versions',
  summary: 'List the versions of a template, the last published first',
  params: TemplateParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('versions', VersionSummaryView) },
  access: { ...readAccess, review: { inherits: 'templates.get' } },
  target: ({ em, params }) => findTemplate(em, params.id),
  targetName: 'template',
  handle: async ({ em, params, query }) => {
    const page = await listVersions(em, params.id, query);
    return { versions: page.items.map(viewSummary), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'template_versions.get',
  route: 'GET /api/v1/registry/templates/:id/versions/:version',
  summary: 'Read a version with its spec; a range or `latest` is resolved',
  params: VersionParams,
  responses: { 200: VersionView },
  access: { ...readAccess, review: { inherits: 'templates.get' } },
  target: ({ em, params }) => findTemplate(em, params.id),
  targetName: 'template',
  // Every template may have a version with this number, so the number identifies no resource.
  resourceId: () => null,
  handle: async ({ em, params, target, operations, principal }) => {
    const published = await loadNamed(em, params);
    const version = await readVersion(em, published.id);
    if (!version) throw new NotFound('version');
    const workers = await readFit(em, principal, target, published);
    return showVersion({ operations, principal }, target, version, workers);
  },
});

export const file = read({
  id: 'template_versions.file',
  route: 'GET /api/v1/registry/templates/:id/versions/:version/file',
  summary: 'Read a file that the runs of a version get',
  params: VersionParams,
  query: z.strictObject({
    path: z.string().max(512).optional().describe('Required: one of the `files` of the version.'),
  }),
  responses: { 200: VersionFileView },
  access: { ...readAccess, review: { inherits: 'templates.get' } },
  target: ({ em, params }) => findTemplate(em, params.id),
  targetName: 'template',
  resourceId: () => null,
  // The schema cannot require the path, because a missing template must be reported before a missing parameter.
  handle: async ({ em, params, query }) => {
    if (query.path === undefined) throw new Invalid('path: name one of the files of the version, such as "main.tf"');
    const { id } = await loadNamed(em, params);
    const content = await readVersionFile(em, id, query.path);
    if (content === undefined) throw new NotFound('the file');
    return viewFile(query.path, content);
  },
});

export const publish = command({
  id: 'template_versions.publish',
  route: 'POST /api/v1/registry/templates/:id/versions',
  summary: 'Publish a version, for good',
  description:
    'A git source is resolved to a commit and copied now. Publishing the same version with the same content again answers ' +
    '200; with other content, 409.',
  params: TemplateParams,
  body: PublishVersion,
  responses: { 201: VersionView, 200: VersionView },
  at: get,
  access: { ...writeAccess, review: { inherits: 'templates.update' } },
  target: ({ em, params, lock }) => findTemplateToChange(em, params.id, lock),
  targetName: 'template',
  idempotency: 'none',
  audit: 'template_version.published',
  prepare: async ({ em, principal, target, body, services }) => {
    refuseArchived(target);
    const evaluator = new VariableEvaluator(services.evaluator, limitSubjectOfCaller(principal));
    const check = async (variables: typeof body.spec.variables) =>
      refuseSchemaProblems(variables, await evaluator.check(variables));
    await check(body.spec.variables);
    const publication = await preparePublication(services, em, { principal, target, body });
    const prepared = await prepareVersion(target, body, publication);
    if (body.derive) await check(prepared.spec.variables);
    return prepared;
  },
  handle: async ({ tx, principal, target, body, prepared, operations }) => {
    const { version, isNew } = await publishVersion(tx, target, body, prepared, principal);
    const { id, templateId, digest, commit = null } = version;
    const after = { templateId, version: version.version, digest, commit, isNew };
    const shown = await readBack(readVersion(tx.em, id));
    const workers = await readFit(tx.em, principal, target, await loadVersionById(tx.em, id));
    return { id, after, isNew, answer: showVersion({ operations, principal }, target, shown, workers) };
  },
  atParams: (_change, { params, body }) => ({ id: params.id, version: body.version }),
});

export const check = read({
  id: 'template_versions.check',
  route: 'POST /api/v1/registry/templates/:id/versions/check',
  summary: 'Check a spec and its files as publication does, without publishing',
  description:
    'It waits for a worker at most 30 seconds. Nothing of the template runs but what the tool starts to validate it.',
  params: TemplateParams,
  body: CheckVersion,
  responses: { 200: CheckView },
  access: { ...writeAccess, review: { inherits: 'templates.update' } },
  target: ({ em, params }) => findTemplate(em, params.id),
  targetName: 'template',
  mayConflict: true,
  handle: async ({ em, principal, target, body, services }) => {
    const evaluator = new VariableEvaluator(services.evaluator, limitSubjectOfCaller(principal));
    const publication = await preparePublication(services, em, { principal, target, body });
    const { found, spec, files } = await checkDraft(target, body, publication, (variables) =>
      evaluator.check(variables),
    );
    const fit = await readFit(em, principal, target, { spec, filesTools: filesToolsOf(spec, files) });
    const { warnings, errors, ...shown } = viewDraftCheck(found);
    return { ...shown, valid: errors.length === 0, errors, warnings: [...warnings, ...warningsOfFit(fit)] };
  },
});

/**
 * Prepares the data for a publication.
 * @throws NotFound, Forbidden, Unprocessable if the caller may not use the environment for the check
 */
async function preparePublication(
  { orm, transactions, keyRing, config }: Services,
  em: Em,
  asked: { principal: Principal; target: TemplateTarget; body: { check_environment_id: string | null } },
): Promise<Publication> {
  const { principal, target, body } = asked;
  const checkEnvironmentId = body.check_environment_id;
  if (checkEnvironmentId !== null) await refuseCheckPlace(em, { principal, target, environmentId: checkEnvironmentId });
  return { orm, transactions, em, keyRing, policy: config.outbound, principal, checkEnvironmentId };
}

export const yank = command({
  id: 'template_versions.yank',
  route: 'POST /api/v1/registry/templates/:id/versions/:version/yank',
  summary: 'Yank (withdraw) a version: ranges and `latest` no longer choose it; its exact name still finds it',
  params: VersionParams,
  body: YankVersion.prefault({}),
  responses: { 200: VersionView },
  at: get,
  access: { ...writeAccess, review: { inherits: 'templates.update' } },
  target: ({ em, params, lock }) => findVersionToChange(em, params, lock),
  targetName: 'version',
  resourceId: ({ target }) => target?.version.id ?? null,
  idempotency: 'none',
  audit: 'template_version.yanked',
  handle: async ({ tx, principal, target, body, operations }) => {
    const { version } = target;
    await yankVersion(tx, version, principal, body.reason);
    const { id, templateId } = version;
    const after = { templateId, version: version.version, reason: version.yankReason };
    const shown = await readBack(readVersion(tx.em, id));
    const workers = await readFit(tx.em, principal, target, await loadVersionById(tx.em, id));
    return { id, after, answer: showVersion({ operations, principal }, target, shown, workers) };
  },
  atParams: (_change, { params }) => params,
});

export const validate = read({
  id: 'template_versions.validate',
  route: 'POST /api/v1/registry/templates/:id/versions/:version/validate',
  summary: 'Check variables against a version, without running anything',
  description:
    'A reference to an output of an instance counts as any value: only a run, whose place is known, reads the output and checks it.',
  params: VersionParams,
  body: ValidateVersion.prefault({}),
  responses: { 200: ValidationView },
  access: { ...readAccess, review: { inherits: 'templates.get' } },
  target: ({ em, params }) => findTemplate(em, params.id),
  targetName: 'template',
  resourceId: () => null,
  handle: async ({ em, params, body, principal, services }) => {
    const { spec } = await loadNamed(em, params);
    const evaluator = new VariableEvaluator(services.evaluator, limitSubjectOfCaller(principal));
    const { places, problems } = locateReferences(body.variables);
    const found = await evaluator.validate(spec.variables, body.variables);
    const errors = [...problems, ...found.errors.filter(({ path }) => !places.has(path))];
    return { valid: errors.length === 0, errors, variables: maskVariables(spec.variables, found.variables) };
  },
});

/** `POST /runs` for the template and the version in the path. */
export const run = command({
  ...createRun,
  resource: 'runs',
  id: 'template_versions.run',
  route: 'POST /api/v1/registry/templates/:id/versions/:version/runs',
  summary: 'Admit a run of this version',
  params: VersionParams,
  body: RunVersion.prefault({}),
  access: { ...(createRun.access as Access), review: { inherits: createRun.id } },
  target: (lookup) => createRun.target?.(asRun(lookup)) ?? Promise.resolve(undefined),
  handle: (call) => createRun.handle(asRun(call)),
});

function asRun<C extends { params: z.output<typeof VersionParams>; body: object }>(call: C) {
  const { id, version } = call.params;
  return { ...call, body: { ...call.body, template_id: id, version } };
}

/** The version that a path names. @throws ServiceError (404) naming the versions that exist instead */
async function loadNamed(em: Em, { id, version }: z.output<typeof VersionParams>): Promise<PublishedVersion> {
  try {
    return await loadVersion(em, id, version);
  } catch (error) {
    throw error instanceof Unprocessable ? new ServiceError('notFound', error.message) : error;
  }
}
