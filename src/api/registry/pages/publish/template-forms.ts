import { readTeamsForNew, readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { create, get, update } from '../../template-operations.ts';
import type { ShownTemplate } from '../views.ts';

const crumbs = [{ label: 'Catalog', path: pagePath(pages.catalog) }];
/** A readme of 256 KiB may take three times its size in a form. */
const options = { bodyLimit: 1024 * 1024 };

/** The form that makes a template. */
export const newTemplateForm = formPage(
  pages.newTemplate,
  {
    read: readOwnerChoices,
    describe: async (owners: Choice[], visit: Visit) => ({
      title: 'New template',
      crumbs,
      below: html`You publish its first version next. <a href="${pagePath(pages.templateGuide)}">Writing templates</a> says how.`,
      fields: [ownerField(owners, visit), ...fieldsOf(null)],
      submit: 'Create template',
      cancel: pagePath(pages.catalog),
      refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit)), installationOwnership).reason,
    }),
    carryOut: async (_owners: Choice[], typed: Typed, visit: Visit) => {
      const { id } = await visit.run(create, {
        body: { ...toBody(typed), team_id: toOwnerId(visit, typed['team_id']) },
      });
      return pagePath(pages.template, { id }, { done: 'created' });
    },
  },
  options,
);

/** The form that changes a template. */
export const editTemplateForm = formPage(
  pages.editTemplate,
  {
    read: (visit: Visit<{ id: string }>) => visit.read(get, { params: visit.params }),
    describe: (template: ShownTemplate) => ({
      title: `Edit ${template.name}`,
      crumbs: [...crumbs, { label: template.name, path: pagePath(pages.template, { id: template.id }) }],
      fields: [...fieldsOf(template), revisionField(template)],
      submit: 'Save',
      cancel: pagePath(pages.template, { id: template.id }),
      refusal: refusalOf(template.actions, 'update'),
    }),
    carryOut: async ({ id }: ShownTemplate, typed: Typed, visit: Visit) => {
      await visit.run(update, { params: { id }, body: { ...toBody(typed), slug: typed['slug'] } });
      return pagePath(pages.template, { id }, { done: 'saved' });
    },
  },
  options,
);

/** The value of the choice that no team owns the template. */
const installation = 'installation';

/** Reads the owner. The visitor must choose if there are several, because nobody can change the owner later. */
function toOwnerId(visit: Visit, chosen = ''): string | null {
  if (chosen === '') visit.addProblem('team_id', 'choose who owns the template');
  return chosen === installation ? null : chosen;
}

function ownerField(choices: readonly Choice[], visit: Visit): FormField {
  const known = choices.length === 1 ? choices[0]?.value : visit.scope.teamId;
  return {
    name: 'team_id',
    label: 'Owner',
    kind: 'select',
    value: known ?? '',
    choices: choices.length === 1 ? choices : [{ value: '', label: 'Choose…' }, ...choices],
    hint: 'The owner cannot be changed later. A template of a team can run only in the environments of that team, or outside any environment. A template of the installation can run in all environments.',
  };
}

function fieldsOf(template: ShownTemplate | null): FormField[] {
  return [
    { name: 'name', label: 'Name', value: template?.name },
    {
      name: 'slug',
      label: 'Slug',
      value: template?.slug,
      isOptional: template === null,
      hint: `The default name of instances: lowercase letters, digits and hyphens.${template === null ? ' Leave empty to derive it from the name.' : ''}`,
    },
    {
      name: 'description',
      label: 'Description',
      kind: 'area',
      value: template?.description,
      isOptional: true,
      hint: 'What it deploys, in a sentence or two. Shown in the catalog.',
    },
    {
      name: 'tags',
      label: 'Tags',
      value: template?.tags.join(', '),
      isOptional: true,
      hint: 'Separated by commas, such as network, aws.',
    },
    {
      name: 'readme',
      label: 'Readme',
      kind: 'code',
      value: template?.readme,
      isOptional: true,
      hint: 'Markdown, shown on the page of the template.',
    },
  ];
}

function toBody({ name, slug, description, tags = '', readme = '' }: Typed) {
  const named = tags.split(',').flatMap((tag) => tag.trim() || []);
  return { name, ...(slug && { slug }), description, tags: named, readme };
}

/** The owners for which the visitor may create templates. If there are none, the operation tells the visitor. */
async function readOwnerChoices(visit: Visit): Promise<Choice[]> {
  const owners = [...(await readTeamsForNew(visit)), installationOwnership];
  const allowed = owners.filter((owner) => visit.mayDo(create, owner).allowed);
  const shown = allowed.length > 0 ? allowed : [installationOwnership];
  const names = await readNames(visit.em, {
    teams: shown.map(({ teamId }) => teamId),
    organizations: shown.map(({ organizationId }) => organizationId),
  });
  const nameOf = (id: string | null) => names.get(id ?? '')?.name ?? 'Unknown';
  return shown.map(({ teamId, organizationId }) =>
    teamId === null
      ? { value: installation, label: 'The whole installation' }
      : { value: teamId, label: `${nameOf(organizationId)} / ${nameOf(teamId)}` },
  );
}
