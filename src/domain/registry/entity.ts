import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { Team } from '#domain/teams/entity.ts';
import type { TemplateFiles } from './files.ts';

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
    tags: p.json<string[]>(),
    revision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Template extends TemplateSchema.class {}
TemplateSchema.setClass(Template);

/** A published version. Its row never changes but for the yank. */
export const TemplateVersionSchema = defineEntity({
  name: 'TemplateVersion',
  tableName: 'template_versions',
  uniques: [{ name: 'template_versions_template_version_unique', properties: ['templateId', 'version'] }],
  properties: {
    id: id(),
    templateId: () => p.manyToOne(Template).mapToPk().fieldName('template_id').deleteRule('restrict'),
    version: p.string(),
    /** The spec as it was published; a git source stays named here and is resolved in `files` and `commit`. */
    spec: p.json<Record<string, unknown>>(),
    /** `sha256:…` over the canonical spec and the files: what "the same version" means. */
    digest: p.string(),
    /** The files that a run gets, snapshotted at publication; git's by their paths in the repository. */
    files: p.json<TemplateFiles>().lazy(),
    /** The commit that a git source named at publication. */
    commit: p.string().nullable(),
    changelog: p.text().default(''),
    publishedBy: p.uuid(),
    /** The person who answered for the publisher then. Null: an account of a team, by a release that did not keep it. */
    responsibleUserId: p.uuid().nullable(),
    createdAt: createdAt(),
    yankedAt: at().nullable(),
    yankedBy: p.uuid().nullable(),
  },
});
export class TemplateVersion extends TemplateVersionSchema.class {}
TemplateVersionSchema.setClass(TemplateVersion);
