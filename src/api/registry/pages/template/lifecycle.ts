import { type ArchivingForms, archivingForms } from '#api/tenancy/pages/archiving-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { archive, get, remove, unarchive } from '../../template-operations.ts';
import type { ShownTemplate } from '../views.ts';

const archiving: ArchivingForms<{ id: string }, ShownTemplate> = {
  noun: 'template',
  read: (visit) => visit.read(get, { params: visit.params }),
  operations: { archive, unarchive, remove },
  params: ({ id }) => ({ id }),
  crumbs: ({ id, name }) => [
    { label: 'Catalog', path: pagePath(pages.catalog) },
    { label: name, path: pagePath(pages.template, { id }) },
  ],
  path: ({ id }, done) => pagePath(pages.template, { id }, done === undefined ? {} : { done }),
  pathAfterDeletion: () => pagePath(pages.catalog, {}, { done: 'deleted' }),
  isNameTyped: false,
  archiving: html`<p>You cannot publish versions or start runs of it. What it has deployed stays as it is.</p>
<p>You can unarchive it at any time.</p>`,
  unarchiving: 'You can publish versions and start runs of it again.',
  deletion: async () =>
    html`<p><strong>What goes:</strong> the template and its versions. They cannot be restored. Its slug becomes available again.</p>
<p><strong>What stays:</strong> its runs, with what they were given and what they deployed.</p>`,
};

/** The forms that archive, unarchive and delete templates. */
export const templateLifecycleForms = archivingForms(
  { archive: pages.archiveTemplate, unarchive: pages.unarchiveTemplate, remove: pages.deleteTemplate },
  archiving,
);
