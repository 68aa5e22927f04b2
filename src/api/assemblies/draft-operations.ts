import { command, read } from '#api/pipeline/operation.ts';
import { findDraft, readSource, requireDraft, saveDraft, toSource } from '#domain/assemblies/drafts/drafts.ts';
import { type DraftProblem, type DraftReport, validateSource } from '#domain/assemblies/drafts/validation.ts';
import { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { findAssembly, findAssemblyToChange } from '#domain/assemblies/store.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { draftAccess } from './access.ts';
import { describeDraftActions } from './actions.ts';
import { SaveDraft, ValidateAssembly } from './bodies.ts';
import { drawDraft } from './graph/spec-graph.ts';
import { answerPicture, svg } from './graph/svg-graph.ts';
import { AssemblyParams } from './operations.ts';
import { AssemblyValidationView, DraftView, viewDraft } from './views.ts';

export const getDraft = read({
  id: 'assemblies.get_draft',
  route: 'GET /api/v1/assemblies/:id/draft',
  summary: 'Read the draft of an assembly',
  params: AssemblyParams,
  responses: { 200: DraftView },
  access: draftAccess,
  target: ({ em, params }) => findAssembly(em, params.id),
  targetName: 'assembly',
  handle: async ({ em, params, target, operations, principal }) => {
    const actions = describeDraftActions({ operations, principal }, target);
    return { ...viewDraft(await findDraft(em, params.id)), actions };
  },
});

export const saveTheDraft = command({
  id: 'assemblies.save_draft',
  route: 'PUT /api/v1/assemblies/:id/draft',
  summary: 'Save the draft of an assembly',
  description:
    'The draft need not be valid, but it must be readable: text that is neither YAML nor JSON answers 422 with the line and the column. ' +
    'The draft has a revision of its own.',
  params: AssemblyParams,
  body: SaveDraft,
  responses: { 200: DraftView },
  at: getDraft,
  access: draftAccess,
  target: ({ em, params, lock }) => findAssemblyToChange(em, params.id, lock),
  targetName: 'assembly',
  idempotency: 'none',
  audit: 'assembly.draft_saved',
  prepare: ({ target, body, principal, services }) => {
    refuseArchived(target);
    refuseStale({ revision: target.assembly.draftRevision }, body.expected_revision);
    return readSource(new AssemblyEvaluator(services.evaluator, limitSubjectOfCaller(principal)), toSource(body.spec));
  },
  handle: async ({ tx, target, body, prepared, principal }) => {
    const { id, draftRevision: before } = target.assembly;
    await saveDraft(tx, target, prepared, body.expected_revision, principal);
    return { id, before: { draftRevision: before }, after: { draftRevision: target.assembly.draftRevision } };
  },
});

export const validate = read({
  id: 'assemblies.validate',
  route: 'POST /api/v1/assemblies/:id/validate',
  summary: 'Check the draft of an assembly, or what could become it, without saving anything',
  description: 'It reports everything at once. What it finds valid can be published now.',
  params: AssemblyParams,
  body: ValidateAssembly.prefault({}),
  responses: { 200: AssemblyValidationView },
  produces: { [svg]: 'The graph of the nodes, and which of them have problems.' },
  access: draftAccess,
  target: ({ em, params }) => findAssembly(em, params.id),
  targetName: 'assembly',
  mayConflict: true,
  handle: async ({ em, params, body, target, principal, services, request }) => {
    const source = body.spec === undefined ? (await requireDraft(em, params.id)).source : toSource(body.spec);
    const report = await validateSource({ em, principal, evaluator: services.evaluator }, target.teamId, source);
    if (request.mediaType === svg) {
      const evaluator = new AssemblyEvaluator(services.evaluator, limitSubjectOfCaller(principal));
      return answerPicture(await drawDraft(evaluator, report.value, report.errors));
    }
    return viewReport(report, { hasLines: typeof body.spec !== 'object' });
  },
});

/** Adds lines only for a draft that was sent as text. For one that was sent as an object, the client knows no lines. */
function viewReport({ errors, warnings }: DraftReport, { hasLines }: { hasLines: boolean }) {
  const view = (problem: DraftProblem) => ({ ...problem, line: hasLines ? problem.line : null });
  return { valid: errors.length === 0, errors: errors.map(view), warnings: warnings.map(view) };
}
