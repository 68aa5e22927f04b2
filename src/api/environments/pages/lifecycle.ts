import { type ArchivingForms, archivingForms } from '#api/tenancy/pages/archiving-forms.ts';
import { environmentCrumbs } from '#api/tenancy/pages/views.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { archive, get, remove, unarchive } from '../operations.ts';
import type { Environment } from './labels.ts';

const archiving: ArchivingForms<{ id: string }, Environment> = {
  noun: 'environment',
  read: (visit) => visit.read(get, { params: visit.params }),
  operations: { archive, unarchive, remove },
  params: ({ id }) => ({ id }),
  crumbs: (environment) => environmentCrumbs(environment),
  path: ({ id }, done) => pagePath(pages.environment, { id }, done === undefined ? {} : { done }),
  pathAfterDeletion: () => pagePath(pages.environments, {}, { done: 'deleted' }),
  isNameTyped: false,
  archiving:
    'Nothing can be added, and no run starts in it. What is deployed stays deployed. You can unarchive it later.',
  unarchiving: 'Runs can start again, and the environment can be changed.',
  deletion: async () =>
    html`<p>The environment and its variables are deleted permanently, and its name becomes available again. Its runs and their records are kept.</p>
<p>You can delete it only while nothing is deployed in it.</p>`,
};

/** The forms that archive, unarchive and delete environments. */
export const environmentLifecycleForms = archivingForms(
  { archive: pages.archiveEnvironment, unarchive: pages.unarchiveEnvironment, remove: pages.deleteEnvironment },
  archiving,
);
