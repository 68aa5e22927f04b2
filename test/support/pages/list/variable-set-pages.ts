import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of variable sets, and those of what they are attached to. */
export function variableSetPages({ variableSets, environments, projects }: Installation): DeclaredPage[] {
  const params = { id: variableSets.aws };
  const who = 'owner';
  const secret = { ...params, name: 'AWS_SECRET_ACCESS_KEY' };
  const environment = environments.networkProduction.id;
  return [
    declare('variable-sets', pages.variableSets, { who, isPictured: true }),
    declare('variable-sets-of-environment', pages.variableSets, { query: { environment_id: environment } }),
    declare('variable-sets-empty', pages.variableSets, { who: 'nobody' }),
    declare('variable-set', pages.variableSet, { params, who, isPictured: true }),
    declare('variable-set-viewed', pages.variableSet, { params, who: 'viewer' }),
    declare('variable-set-attachments', pages.variableSet, { params, who, query: { tab: 'attachments' } }),
    declare('variable-set-without-anything', pages.variableSet, { params: { id: variableSets.empty }, who }),
    declare('variable-set-attached-to-nothing', pages.variableSet, {
      params: { id: variableSets.empty },
      query: { tab: 'attachments' },
      who,
    }),
    declare('variable-set-of-strangers', pages.variableSet, { params, who: 'fjordOwner', answers: 404 }),
    declare('variable-set-new', pages.newVariableSet, { who }),
    declare('variable-set-new-refused', pages.newVariableSet, { who: 'viewer' }),
    declare('variable-set-edit', pages.editVariableSet, { params, who }),
    declare('variable-set-attach', pages.attachVariableSet, { params: { id: variableSets.shared }, who }),
    declare('variable-set-delete', pages.deleteVariableSet, { params, who }),
    declare('variable-set-delete-refused', pages.deleteVariableSet, { params, who: 'viewer' }),
    declare('variable-of-set', pages.variableOfSet, { params: secret, who }),
    declare('variable-of-set-new', pages.newVariableOfSet, { params, who }),
    declare('variable-of-set-delete', pages.deleteVariableOfSet, { params: secret, who }),
    declare('environment-variables', pages.environment, {
      params: { id: environment },
      query: { tab: 'variables' },
      isPictured: true,
    }),
    declare('project-with-variable-sets', pages.project, { params: { id: projects['network']?.id ?? '' }, who }),
  ];
}
