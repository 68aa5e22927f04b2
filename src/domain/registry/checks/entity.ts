import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { ToolDemand } from '#domain/tools/demand.ts';
import { Template, TemplateVersion } from '../entity.ts';
import type { KeptModules } from '../kept-modules/model.ts';
import type { SandboxCheck } from './model.ts';

/** A check that is under way, or whose request has not taken its result yet. Its id is that of its workflow. */
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
    /** Whose connections open private modules, if whoever asked may use them when a worker checks; null: none. */
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    /** What is checked while no version has it. */
    content: p.json<{ spec: Record<string, unknown>; files: TemplateFiles }>().nullable().lazy(),
    pool: p.string(),
    /** The tools that may check; null: commands need none. */
    demand: p.json<ToolDemand>().nullable(),
    /** Who is limited in how many checks are under way. */
    holders: p.json<string[]>(),
    /** Under whose authority the check uses connections. */
    requestedBy: p.uuid(),
    credentialId: p.uuid().nullable(),
    responsibleUserId: p.uuid().nullable(),
    tries: p.integer().default(0),
    /** When a worker was last asked to make it. */
    startedAt: at().nullable(),
    endedAt: at().nullable(),
    /** Before it has ended: why the last try gave none. */
    result: p.json<SandboxCheck>().nullable(),
    /** What the tool of the result resolved the modules from elsewhere to, for the version that takes the result. */
    modules: p.json<Omit<KeptModules, 'content'>>().nullable().lazy(),
    modulesContent: p.blob().nullable().lazy(),
    /** The same of another tool that may run the version. */
    otherModules: p.json<{ readonly tool: string } & Omit<KeptModules, 'content'>>().nullable().lazy(),
    otherModulesContent: p.blob().nullable().lazy(),
    createdAt: createdAt(),
  },
});
export class TemplateCheck extends TemplateCheckSchema.class {}
TemplateCheckSchema.setClass(TemplateCheck);
