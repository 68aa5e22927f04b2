import { create } from '#api/registry/template-operations.ts';
import { nameFields } from '#api/tenancy/pages/named-forms.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { toBody } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { readSetup, type Setup } from './setup.ts';
import { describeStep, renderMade } from './steps-view.ts';

/** The step that creates the first template. Its first version is published on the next page. */
export const templateStep = formPage(pages.setUpTeamTemplate, {
  read: readSetup,
  describe: (setup, visit) => ({
    ...describeStep(setup, 'template', describeTemplates(setup)),
    fields: [...nameFields(), { name: 'description', label: 'Description', kind: 'area', isOptional: true }],
    submit: 'Create template',
    refusal: visit.mayDo(create, { teamId: setup.team.id, organizationId: setup.team.organization_id }).reason,
  }),
  carryOut: async ({ team }, typed, visit) => {
    const { id } = await visit.run(create, { body: { ...toBody(typed), team_id: team.id } });
    return pagePath(pages.publishVersion, { id });
  },
});

function describeTemplates({ templates }: Setup) {
  return renderMade(
    'Templates',
    templates.map(
      ({ id, name }) =>
        html`<a class="foreign" href="${pagePath(pages.template, { id })}">${name}</a> (<a href="${pagePath(pages.publishVersion, { id })}">publish a version</a>)`,
    ),
  );
}
