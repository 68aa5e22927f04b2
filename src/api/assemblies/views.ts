import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, actionsView, Time } from '#api/pipeline/schemas.ts';
import type { Draft } from '#domain/assemblies/drafts/draft-store.ts';
import type { AssemblyDetails } from '#domain/assemblies/list-store.ts';
import { assemblyOperations } from '#domain/assemblies/model.ts';
import type { AssemblyVersionDetails, AssemblyVersionSummary } from '#domain/assemblies/versions/version-store.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';

/** The possible actions on a draft. */
export const draftActions = ['save_draft', 'publish'] as const;
export const assemblyActions = ['save_draft', 'publish', 'run', 'update', 'archive', 'unarchive', 'delete'] as const;

const Author = z.object({ id: AnswerId, name: z.string() });

const lastRun = {
  id: AnswerId,
  status: z.enum(runStatuses),
  status_reason: z.string().nullable(),
  operation: z.enum(assemblyOperations),
  environment_id: AnswerId,
  created_at: Time,
};

/** An assembly in a list. */
export const ListedAssemblyView = z
  .object({
    id: AnswerId,
    team_id: AnswerId,
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    latest_version: z.string().nullable().describe('What `latest` means now; null while nothing is published.'),
    revision: z.int(),
    created_at: Time,
    archived_at: Time.nullable(),
    last_run: z.object(lastRun).nullable().describe('The newest run; null if it was never run.'),
  })
  .meta({ id: 'ListedAssembly' });

export function viewListed(assembly: AssemblyDetails) {
  const run = assembly.lastRun && answerOf(lastRun, assembly.lastRun);
  return answerOf(ListedAssemblyView.shape, { ...assembly, lastRun: run });
}

/** A single assembly. */
export const AssemblyView = ListedAssemblyView.extend({ actions: actionsView(assemblyActions) }).meta({
  id: 'Assembly',
});

export const DraftView = z
  .object({
    revision: z.int().describe("The draft's own revision, which the assembly's does not count."),
    source: z.string().describe('As it was sent; a draft that was sent as an object is its JSON.'),
    spec: z.unknown().describe('What the text means. It need not be valid.'),
    changed_by: Author,
    changed_at: Time,
    actions: actionsView(draftActions),
  })
  .meta({ id: 'AssemblyDraft' });

export function viewDraft({ revision, source, spec, changedBy, changedAt }: Draft) {
  return { revision, source, spec, changed_by: changedBy, changed_at: changedAt };
}

const ProblemView = z.object({
  path: z.string().describe('A JSON pointer into the spec, such as /nodes/network/version; empty: the whole spec.'),
  message: z.string(),
  line: z.int().nullable().describe('The line of the text, from 1; null for what was sent as an object.'),
  column: z.int().nullable().describe('The column, from 1, where the text cannot be read.'),
});

export const AssemblyValidationView = z
  .object({
    valid: z.boolean().describe('Whether it can be published. Warnings do not prevent that.'),
    errors: z.array(ProblemView),
    warnings: z.array(ProblemView),
  })
  .meta({ id: 'AssemblyValidation' });

export const VersionSummaryView = z
  .object({
    id: AnswerId,
    assembly_id: AnswerId,
    version: z.string(),
    nodes: z.int().describe('How many nodes it has.'),
    digest: z
      .string()
      .describe(
        'The digest of the spec and the template versions of its nodes. Versions with equal content have equal digests.',
      ),
    changelog: z.string(),
    published_by: Author,
    created_at: Time,
  })
  .meta({ id: 'AssemblyVersionSummary' });

export function viewSummary(version: AssemblyVersionSummary): z.input<typeof VersionSummaryView> {
  return answerOf(VersionSummaryView.shape, version);
}

export const VersionView = VersionSummaryView.extend({
  spec: z.record(z.string(), z.unknown()),
  source: z.string().describe('The text of the draft at publication.'),
  templates: z
    .record(z.string(), z.object({ template_id: AnswerId, version_id: AnswerId, version: z.string() }))
    .describe('The exact template version of each node, by the key of the node.'),
}).meta({ id: 'AssemblyVersion' });

export function viewVersion(version: AssemblyVersionDetails): z.input<typeof VersionView> {
  const templates = Object.entries(version.templates).map(([key, { templateId, versionId, version: exact }]) => [
    key,
    { template_id: templateId, version_id: versionId, version: exact },
  ]);
  return {
    ...viewSummary(version),
    spec: version.spec,
    source: version.source,
    templates: Object.fromEntries(templates),
  };
}
