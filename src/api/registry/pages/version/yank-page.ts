import { addFormPage } from '#api/web/forms/form-page.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { get } from '../../template-operations.ts';
import { yank } from '../../version-operations.ts';

/** Adds the form that yanks a version. */
export function registerYank(addPage: AddPage): void {
  addFormPage(addPage, pages.yankVersion, {
    read: (visit) => visit.read(get, { params: { id: visit.params.id } }),
    describe: ({ id, name }, { params }) => ({
      title: `Yank ${name} ${params.version}`,
      crumbs: [
        { label: 'Catalog', path: pagePath(pages.catalog) },
        { label: name, path: pagePath(pages.template, { id }) },
        { label: params.version, path: pagePath(pages.templateVersion, params) },
      ],
      lead: html`<p>Ranges such as <code>^1.2</code> and “latest” no longer find this version. That is for good: publish a higher version instead.</p>
<p><strong>What stays:</strong> whoever names the version exactly can still run it, and what it has deployed stays as it is.</p>`,
      fields: [
        {
          name: 'reason',
          label: 'Reason',
          kind: 'area',
          isOptional: true,
          maxLength: 1000,
          hint: 'Everybody who sees the version sees it.',
        },
      ],
      submit: 'Yank the version',
      tone: 'danger',
      cancel: pagePath(pages.templateVersion, params),
    }),
    carryOut: async (_template, { reason }, visit) => {
      await visit.run(yank, { params: visit.params, body: { reason } });
      return pagePath(pages.templateVersion, visit.params, { done: 'yanked' });
    },
  });
}
