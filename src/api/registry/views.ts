import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { executorKinds } from '#domain/registry/spec.ts';
import type { TemplateDetails, VersionDetails, VersionSummary } from '#domain/registry/store.ts';

export const TemplateView = z
  .object({
    id: AnswerId,
    team_id: AnswerId.nullable().describe('Null: the template belongs to the whole installation.'),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    latest_version: z.string().nullable().describe('What `latest` means now; null while nothing is published.'),
    revision: z.int(),
    created_at: Time,
    archived_at: Time.nullable(),
  })
  .meta({ id: 'Template' });

export function viewTemplate(template: TemplateDetails): z.input<typeof TemplateView> {
  const { teamId, latestVersion, createdAt, archivedAt, tags, ...rest } = template;
  return {
    ...rest,
    tags: [...tags],
    team_id: teamId,
    latest_version: latestVersion,
    created_at: createdAt,
    archived_at: archivedAt,
  };
}

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
  })
  .meta({ id: 'TemplateVersionSummary' });

export function viewSummary(version: VersionSummary): z.input<typeof VersionSummaryView> {
  const { templateId, publishedBy, createdAt, yankedAt, ...rest } = version;
  return { ...rest, template_id: templateId, published_by: publishedBy, created_at: createdAt, yanked_at: yankedAt };
}

export const VersionView = VersionSummaryView.extend({
  spec: z.record(z.string(), z.unknown()),
  files: z.array(z.string()).describe('The paths of the files that a run gets.'),
}).meta({ id: 'TemplateVersion' });

export function viewVersion(version: VersionDetails): z.input<typeof VersionView> {
  return { ...viewSummary(version), spec: version.spec, files: version.files };
}

export const ValidationView = z
  .object({
    valid: z.boolean(),
    errors: z.array(z.object({ path: z.string().describe('A JSON pointer, such as /size.'), message: z.string() })),
    variables: z.record(z.string(), z.unknown()).describe('With defaults filled in and secrets masked.'),
  })
  .meta({ id: 'VariablesValidation' });
