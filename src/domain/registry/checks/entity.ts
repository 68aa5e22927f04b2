import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { ToolDemand } from '#domain/tools/demand.ts';
import { Template, TemplateVersion } from '../entity.ts';
import type { KeptModules } from '../kept-modules/model.ts';
import type { SandboxCheck } from './model.ts';

/** A check that has not ended, or whose request has not read its result yet. Its id is that of its workflow. */
export const TemplateCheckSchema = defineEntity({
  name: 'TemplateCheck',
  tableName: 'template_checks',
  indexes: [
    { name: 'template_checks_template_id_index', properties: ['templateId'] },
    { name: 'template_checks_environment_id_index', properties: ['environmentId'] },
  ],
  uniques: [{ name: 'template_checks_version_id_unique', properties: ['versionId'] }],
  properties: {
    id: id(),
    templateId: () => p.manyToOne(Template).mapToPk().fieldName('template_id').deleteRule('restrict'),
    /** The version that gets the result; null: the request that waits gets it. */
    versionId: () => p.manyToOne(TemplateVersion).mapToPk().fieldName('version_id').deleteRule('restrict').nullable(),
    /** The environment whose connections open private modules, if the requester may still use them when a worker checks; null: none. */
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    /** The checked content, until a version has it. */
    content: p.json<{ spec: Record<string, unknown>; files: TemplateFiles }>().nullable().lazy(),
    pool: p.string(),
    /** The tools that may check; null: commands need none. */
    demand: p.json<ToolDemand>().nullable(),
    /** The keys under which concurrent checks are limited. */
    holders: p.json<string[]>(),
    /** The principal whose authority the check uses for connections. */
    requestedBy: p.uuid(),
    credentialId: p.uuid().nullable(),
    responsibleUserId: p.uuid().nullable(),
    tries: p.integer().default(0),
    /** When the check was last requested from a worker. */
    startedAt: at().nullable(),
    endedAt: at().nullable(),
    /** The result. Before the check has ended: why the last try failed. */
    result: p.json<SandboxCheck>().nullable(),
    /** The external modules that the tool of the result resolved, for the version that takes the result. */
    modules: p.json<Omit<KeptModules, 'content'>>().nullable().lazy(),
    modulesContent: p.blob().nullable().lazy(),
    /** The external modules that another tool resolved which may run the version. */
    otherModules: p.json<{ readonly tool: string } & Omit<KeptModules, 'content'>>().nullable().lazy(),
    otherModulesContent: p.blob().nullable().lazy(),
    createdAt: createdAt(),
  },
});
export class TemplateCheck extends TemplateCheckSchema.class {}
TemplateCheckSchema.setClass(TemplateCheck);
