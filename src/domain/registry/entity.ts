import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { findDifference } from '#domain/shared/revisions.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { Team } from '#domain/teams/entity.ts';
import type { FilesTools } from '#domain/tools/demand.ts';
import type { VersionCheck } from './checks/model.ts';
import type { TemplateChange } from './model.ts';

export const TemplateSchema = defineEntity({
  name: 'Template',
  tableName: 'templates',
  uniques: [
    {
      name: 'templates_team_slug_unique',
      expression:
        'create unique index "templates_team_slug_unique" on "templates" ("team_id", "slug") nulls not distinct where "deleted_at" is null',
    },
  ],
  properties: {
    id: id(),
    /** Null: a template of the whole installation. */
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict').nullable(),
    name: p.string(),
    slug: p.string(),
    description: p.text().default(''),
    /** Markdown for people, which appears on the template's page. */
    readme: p.text().default('').lazy(),
    tags: p.json<string[]>(),
    revision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Template extends TemplateSchema.class {
  /** Changes the fields that are present; false if nothing differs, so that there is no new revision. */
  change(wanted: Omit<TemplateChange, 'expectedRevision'>): boolean {
    const { name, slug, description, readme, tags } = this;
    const { after, isEmpty } = findDifference({ name, slug, description, readme, tags }, wanted);
    if (isEmpty) return false;
    Object.assign(this, after);
    this.revision += 1;
    return true;
  }
}
TemplateSchema.setClass(Template);

/** A published version. Its row changes only when the version is yanked, or when its check ends after the publication. */
export const TemplateVersionSchema = defineEntity({
  name: 'TemplateVersion',
  tableName: 'template_versions',
  uniques: [{ name: 'template_versions_template_version_unique', properties: ['templateId', 'version'] }],
  indexes: [
    {
      name: 'template_versions_version_index',
      expression: `create index "template_versions_version_index" on "template_versions" (lower("version") text_pattern_ops, "id")`,
    },
  ],
  properties: {
    id: id(),
    templateId: () => p.manyToOne(Template).mapToPk().fieldName('template_id').deleteRule('restrict'),
    version: p.string(),
    /** The spec as it was published. If it names a git source, `files` and `commit` contain what the source resolved to. */
    spec: p.json<Record<string, unknown>>(),
    /** `sha256:…` over the canonical spec and the files: two versions with the same digest have the same content. */
    digest: p.string(),
    /** The files that a run gets, copied at publication. Those from git have their paths in the repository. */
    files: p.json<TemplateFiles>().lazy(),
    /** The requirements of the files for their tool; null: an earlier release published the version without reading them. */
    filesTools: p.json<FilesTools>().nullable(),
    /** The commit that a git source named at publication. */
    commit: p.string().nullable(),
    changelog: p.text().default(''),
    publishedBy: p.uuid(),
    /** The person responsible for the publisher at that time. Null: a team's account, in a release that did not record it. */
    responsibleUserId: p.uuid().nullable(),
    /** The findings of the check before the version ran; null: an earlier release published the version without a check. */
    check: p.json<VersionCheck>().nullable(),
    createdAt: createdAt(),
    yankedAt: at().nullable(),
    yankedBy: p.uuid().nullable(),
    /** Why it was yanked; empty if no reason was given. */
    yankReason: p.text().default(''),
  },
});
export class TemplateVersion extends TemplateVersionSchema.class {
  /** Removes the version from ranges and `latest`, permanently. Only the first yank is recorded. */
  yank(principalId: string, reason: string): void {
    if (this.yankedAt) return;
    this.yankedAt = new Date();
    this.yankedBy = principalId;
    this.yankReason = reason;
  }
}
TemplateVersionSchema.setClass(TemplateVersion);

/**
 * An output that a version marks as secret. Code that shows outputs looks it up by name, because reading the specs of all newer versions
 * would be slow.
 */
export const TemplateSecretOutputSchema = defineEntity({
  name: 'TemplateSecretOutput',
  tableName: 'template_secret_outputs',
  properties: {
    templateId: () => p.manyToOne(Template).primary().mapToPk().fieldName('template_id').deleteRule('restrict'),
    name: p.string().primary(),
    versionId: () => p.manyToOne(TemplateVersion).primary().mapToPk().fieldName('version_id').deleteRule('restrict'),
    /** A yanked version marks only the outputs of its own runs. */
    isYanked: p.boolean().default(false),
  },
});
export class TemplateSecretOutput extends TemplateSecretOutputSchema.class {}
TemplateSecretOutputSchema.setClass(TemplateSecretOutput);
