import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../../template-operations.ts';
import { get as getVersion, yank } from '../../version-operations.ts';

/** The form that yanks a version. */
export const yankForm = formPage(pages.yankVersion, {
  read: readVersion,
  describe: ({ template: { id, name }, version: { version, actions } }) => ({
    title: `Withdraw ${name} ${version}`,
    crumbs: [
      { label: 'Catalog', path: pagePath(pages.catalog) },
      { label: name, path: pagePath(pages.template, { id }) },
      { label: version, path: pagePath(pages.templateVersion, { id, version }) },
    ],
    lead: html`<p>Ranges such as <code>^1.2</code> and “latest” will no longer choose this version (the API calls this a yank). You cannot undo this: publish a higher version instead.</p>
<p><strong>What stays:</strong> the version can still be run by its exact name, and what it has deployed is not changed.</p>`,
    fields: [
      {
        name: 'reason',
        label: 'Reason',
        kind: 'area',
        isOptional: true,
        hint: 'Shown to everybody who can see the version.',
      },
    ],
    submit: 'Withdraw version',
    tone: 'danger',
    cancel: pagePath(pages.templateVersion, { id, version }),
    refusal: refusalOf(actions, 'yank'),
  }),
  carryOut: async ({ template: { id }, version: { version } }, { reason }, visit) => {
    const params = { id, version };
    await visit.run(yank, { params, body: { reason } });
    return pagePath(pages.templateVersion, params, { done: 'yanked' });
  },
});

async function readVersion(visit: Visit<{ id: string; version: string }>) {
  const { id, version: wanted } = visit.params;
  const [template, version] = await Promise.all([
    visit.read(get, { params: { id } }),
    visit.read(getVersion, { params: { id, version: wanted } }),
  ]);
  return { template, version };
}
