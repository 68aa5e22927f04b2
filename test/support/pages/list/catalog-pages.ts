import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

const pictured = { isPictured: true };

/** The pages of templates, their versions, and of the form that starts a run. */
export function catalogPages({ templates, environments }: Installation): DeclaredPage[] {
  const { network, database, machine } = templates;
  const ofNetwork = { params: { id: network.id } };
  const forms = Object.values(templates)
    .filter(({ plan }) => plan.isArchived !== true)
    .map(({ id, key, plan }) => {
      const who = plan.by === 'fjordOwner' ? 'fjordOwner' : 'requester';
      return declare(`run-form-${key}`, pages.newRun, { params: { id }, who, isPictured: key === 'database' });
    });
  return [
    declare('catalog', pages.catalog, pictured),
    declare('template-guide', pages.templateGuide, { who: 'owner' }),
    declare('catalog-search', pages.catalog, { query: { q: 'network' } }),
    declare('catalog-none-found', pages.catalog, { query: { q: 'nothing of this name' } }),
    declare('template', pages.template, { ...ofNetwork, ...pictured }),
    declare('template-archived', pages.template, { params: { id: machine.id }, who: 'admin' }),
    declare('template-of-strangers', pages.template, { ...ofNetwork, who: 'fjordOwner', answers: 404 }),
    declare('template-new', pages.newTemplate, { who: 'owner' }),
    declare('template-edit', pages.editTemplate, { ...ofNetwork, who: 'owner' }),
    declare('template-archive', pages.archiveTemplate, { ...ofNetwork, who: 'owner' }),
    declare('template-unarchive', pages.unarchiveTemplate, { params: { id: machine.id }, who: 'admin' }),
    declare('template-delete', pages.deleteTemplate, { params: { id: machine.id }, who: 'admin' }),
    declare('template-publish', pages.publishVersion, { ...ofNetwork, who: 'owner' }),
    declare('template-version', pages.templateVersion, { params: { id: network.id, version: '2.0.0' } }),
    declare('template-version-yanked', pages.templateVersion, { params: { id: network.id, version: '1.1.0' } }),
    declare('template-yank', pages.yankVersion, { params: { id: network.id, version: '2.0.0' }, who: 'owner' }),
    ...forms,
    declare('run-form-in-environment', pages.newRun, {
      params: { id: database.id },
      query: { environment_id: environments.ledgerProduction.id },
      who: 'requester',
    }),
  ];
}
