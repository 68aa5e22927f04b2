import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, actionsView, Time } from '#api/pipeline/schemas.ts';
import { viewWaitingCode, WaitingCodeView } from '#api/runs/waiting-code-view.ts';
import type { LastRun, TemplateDetails } from '#domain/registry/catalog-store.ts';
import { checkStates, type SandboxCheck, type VersionCheck } from '#domain/registry/checks/model.ts';
import { executorKinds } from '#domain/registry/spec.ts';
import type { TemplateTarget } from '#domain/registry/store.ts';
import type { VersionDetails, VersionSummary } from '#domain/registry/version-store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { type FileContent, isBinary, isExecutable, isLink, textOf } from '#domain/sources/files.ts';
import { toolNames } from '#domain/tools/model.ts';
import { type ShownFit, WorkerFitView } from './worker-fit.ts';

/** What a caller may do with a version of a template. A yanked version still runs if a run names it exactly. */
const versionActions = actionsOf<TemplateTarget>()({
  run: { operation: 'template_versions.run', findRefusal: findArchivedRefusal },
  yank: { operation: 'template_versions.yank' },
});

export const templateActions = ['run', 'publish', 'update', 'archive', 'unarchive', 'delete'] as const;

/** A template in a list. */
export const ListedTemplateView = z
  .object({
    id: AnswerId,
    team_id: AnswerId.nullable().describe('Null: the template belongs to the whole installation.'),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    latest_version: z.string().nullable().describe('What `latest` means now; null while nothing is published.'),
    executor: z.enum(executorKinds).nullable().describe('How the latest version is executed.'),
    last_run: z
      .object({
        id: AnswerId,
        status: z.enum(runStatuses),
        status_reason: z.string().nullable(),
        waiting_on: WaitingCodeView.nullable().describe('What it waits for.'),
        created_at: Time,
      })
      .nullable()
      .describe('The newest run that you may read, if it is among the newest 200 of the template.'),
    revision: z.int(),
    created_at: Time,
    archived_at: Time.nullable(),
  })
  .meta({ id: 'ListedTemplate' });

export function viewListed(
  template: TemplateDetails,
  lastRun: LastRun | undefined,
): z.input<typeof ListedTemplateView> {
  const { tags } = template;
  return answerOf(ListedTemplateView.shape, {
    ...template,
    lastRun: lastRun
      ? {
          id: lastRun.id,
          status: lastRun.status,
          status_reason: lastRun.statusReason,
          waiting_on: viewWaitingCode(lastRun.waitingOn),
          created_at: lastRun.createdAt,
        }
      : null,
    tags: [...tags],
  });
}

/** A single template. */
export const TemplateView = ListedTemplateView.extend({
  readme: z.string().describe('Markdown.'),
  actions: actionsView(templateActions),
}).meta({ id: 'Template' });

export const VersionSummaryView = z
  .object({
    id: AnswerId,
    template_id: AnswerId,
    version: z.string(),
    executor: z.enum(executorKinds),
    digest: z
      .string()
      .describe('The digest of the spec and the files. Versions with equal content have equal digests.'),
    commit: z.string().nullable().describe('The commit that a git source named at publication.'),
    changelog: z.string(),
    published_by: z.object({ id: AnswerId, name: z.string() }),
    created_at: Time,
    yanked_at: Time.nullable(),
    yank_reason: z.string().describe('Empty: it is not yanked, or no reason was given.'),
  })
  .meta({ id: 'TemplateVersionSummary' });

export function viewSummary(version: VersionSummary): z.input<typeof VersionSummaryView> {
  const { templateId, publishedBy, createdAt, yankedAt, yankReason, ...rest } = version;
  return {
    ...rest,
    template_id: templateId,
    published_by: publishedBy,
    created_at: createdAt,
    yanked_at: yankedAt,
    yank_reason: yankReason,
  };
}

const FindingView = z
  .object({
    path: z.string().describe('A JSON pointer into the spec, such as /variables/properties/size.'),
    file: z.string().optional().describe('A file of the version.'),
    line: z.int().optional().describe('1 for the first.'),
    message: z.string(),
  })
  .meta({ id: 'TemplateFinding' });

const checkFields = {
  state: z
    .enum(checkStates)
    .describe('What a worker found in a sandbox; `not_done`: none has looked yet, or the check could not be made.'),
  tool: z
    .object({ name: z.string(), version: z.string() })
    .nullable()
    .describe('The tool that checked; null for commands, and if none did.'),
  errors: z.array(FindingView),
  warnings: z.array(FindingView),
  not_checked: z.array(z.string()).describe('What could not be checked, and why.'),
};

const VersionCheckView = z.object({ ...checkFields, at: Time }).meta({ id: 'TemplateVersionCheck' });

function viewCheck(check: VersionCheck | null): z.input<typeof VersionCheckView> | null {
  if (check === null) return null;
  const { notChecked, errors, warnings, ...rest } = check;
  return { ...rest, errors: [...errors], warnings: [...warnings], not_checked: [...notChecked] };
}

export const VersionView = VersionSummaryView.extend({
  check: VersionCheckView.nullable().describe('What was found before any run; null: published by an earlier release.'),
  spec: z.record(z.string(), z.unknown()),
  files: z.array(z.string()).describe('The paths of the files that a run gets.'),
  workers: WorkerFitView.nullable().describe(
    'Which workers could execute its runs now. Null: commands, which need no tool, or a pool that you cannot use.',
  ),
  actions: versionActions.view,
}).meta({ id: 'TemplateVersion' });

/** Shows one version of a template with the actions that the caller may take. */
export function showVersion(
  context: ActionContext,
  template: TemplateTarget,
  version: VersionDetails,
  workers: ShownFit | null,
): z.input<typeof VersionView> {
  const { check, ...summary } = version;
  return {
    ...viewSummary(summary),
    check: viewCheck(check),
    spec: version.spec,
    files: version.files,
    workers,
    actions: versionActions.describe(context, template),
  };
}

export const VersionFileView = z
  .object({
    path: z.string(),
    text: z.string().nullable().describe('Null: it is not text.'),
    base64: z.string().nullable().describe('The bytes of a file that is not text.'),
    executable: z
      .boolean()
      .describe(
        'Whether a run may execute the file: as git says, or, of a file written in the spec, whether it begins with #!.',
      ),
    link: z.string().nullable().describe('What a symbolic link leads to. It has no text and no bytes.'),
  })
  .meta({ id: 'TemplateVersionFile' });

export function viewFile(path: string, content: FileContent): z.input<typeof VersionFileView> {
  const [link, base64] = [isLink(content) ? content.link : null, isBinary(content) ? content.base64 : null];
  const text = link === null && base64 === null ? textOf(content) : null;
  return { path, text, base64, executable: isExecutable(content), link };
}

export const CheckView = z
  .object({ valid: z.boolean().describe('Whether publication would accept the spec and its files.'), ...checkFields })
  .meta({ id: 'TemplateCheck' });

export function viewDraftCheck({ notChecked, ...check }: SandboxCheck) {
  const { errors, warnings } = check;
  return { ...check, errors: [...errors], warnings: [...warnings], not_checked: [...notChecked] };
}

export const ProposalView = z
  .object({
    spec: z
      .record(z.string(), z.unknown())
      .describe('With variables, outputs and the executor, as publication takes it.'),
    tool: z.enum(toolNames).describe('As which tool the files were read.'),
    readme: z.string().nullable().describe('The README.md beside the configuration.'),
    notes: z.array(FindingView).describe('What could not be taken over, or is worth knowing.'),
  })
  .meta({ id: 'SpecProposal' });

export const ValidationView = z
  .object({
    valid: z.boolean(),
    errors: z.array(z.object({ path: z.string().describe('A JSON pointer, such as /size.'), message: z.string() })),
    variables: z.record(z.string(), z.unknown()).describe('With defaults filled in and secrets masked.'),
  })
  .meta({ id: 'VariablesValidation' });
