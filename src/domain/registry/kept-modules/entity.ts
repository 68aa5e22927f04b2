import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import { TemplateVersion } from '../entity.ts';
import type { ResolvedModule } from './model.ts';

/**
 * The external modules and providers of a version, as resolved by a kind of tool. They never change; only the files of modules can be voided
 * and kept again, and a platform can get its lock file.
 */
export const VersionModulesSchema = defineEntity({
  name: 'VersionModules',
  tableName: 'template_version_modules',
  uniques: [
    {
      name: 'template_version_modules_unique',
      expression:
        'create unique index "template_version_modules_unique" on "template_version_modules" ("template_version_id", "tool", "environment_id") nulls not distinct',
    },
  ],
  indexes: [{ name: 'template_version_modules_environment_id_index', properties: ['environmentId'] }],
  properties: {
    id: id(),
    templateVersionId: () =>
      p.manyToOne(TemplateVersion).mapToPk().fieldName('template_version_id').deleteRule('restrict'),
    /** The environment whose runs use them; null: all runs of the version. */
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    /** The kind of tool, since the tools write the sources of registries differently. */
    tool: p.string(),
    digest: p.string(),
    list: p.json<readonly ResolvedModule[]>(),
    /** The files, packed by the executor; null: they are too many or too large. */
    content: p.blob().nullable(),
    /** The lock files of the providers by platform. */
    locks: p.json<Readonly<Record<string, string>>>(),
    /**
     * When the template or the environment got other owners. No run gets the stored files until a run has fetched the same files itself.
     * Null: the files count.
     */
    voidSince: at().nullable(),
    createdAt: createdAt(),
  },
});
export class VersionModules extends VersionModulesSchema.class {}
VersionModulesSchema.setClass(VersionModules);
