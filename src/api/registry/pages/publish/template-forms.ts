import { readTeamsForNew, readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { addFormPage, type Typed } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { readNames } from '#domain/tenancy/names-store.ts';
import { create, get, update } from '../../template-operations.ts';
import type { ShownTemplate } from '../shown.ts';

const crumbs = [{ label: 'Catalog', path: pagePath(pages.catalog) }];
/** A readme of 256 KiB may take three times its size in a form. */
const options = { bodyLimit: 1024 * 1024 };

/** Adds the form that makes a template. */
export function registerNewTemplate(addPage: AddPage): void {
  const declaration = {
    read: readOwnerChoices,
    describe: async (owners: Choice[], visit: Visit) => ({
      title: 'New template',
      crumbs,
      below: 'You publish its first version next.',
      fields: [ownerField(owners, visit), ...fieldsOf(null)],
      submit: 'Create template',
      cancel: pagePath(pages.catalog),
      refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit)), installationOwnership).reason,
    }),
    carryOut: async (_owners: Choice[], typed: Typed, visit: Visit) => {
      const { id } = await visit.run(create, { body: { ...toBody(typed), team_id: typed['team_id'] || null } });
      return pagePath(pages.template, { id }, { done: 'created' });
    },
  };
  addFormPage(addPage, pages.newTemplate, declaration, options);
}

/** Adds the form that changes a template. */
export function registerEditTemplate(addPage: AddPage): void {
  const declaration = {
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
      const body = { ...toBody(typed), slug: typed['slug'], expected_revision: Number(typed['expected_revision']) };
      await visit.run(update, { params: { id }, body });
      return pagePath(pages.template, { id }, { done: 'saved' });
    },
  };
  addFormPage(addPage, pages.editTemplate, declaration, options);
}

function ownerField(choices: readonly Choice[], visit: Visit): FormField {
  return {
    name: 'team_id',
    label: 'Owner',
    kind: 'select',
    value: visit.scope.teamId ?? choices[0]?.value ?? '',
    choices,
    hint: 'A template of a team can run only in the environments of that team. A template of the installation can run in all environments.',
  };
}

function fieldsOf(template: ShownTemplate | null): FormField[] {
  return [
    { name: 'name', label: 'Name', value: template?.name, maxLength: 100 },
    {
      name: 'slug',
      label: 'Slug',
      value: template?.slug,
      maxLength: 63,
      isOptional: template === null,
      hint: 'The default name of instances: lowercase letters, digits and hyphens. Leave empty to derive it from the name.',
    },
    {
      name: 'description',
      label: 'Description',
      kind: 'area',
      value: template?.description,
      isOptional: true,
      maxLength: 4000,
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

/** The owners whose templates the visitor may make. A visitor who may make none is told so by the operation. */
async function readOwnerChoices(visit: Visit): Promise<Choice[]> {
  const owners = [...(await readTeamsForNew(visit)), installationOwnership];
  const allowed = owners.filter((owner) => visit.mayDo(create, owner).allowed);
  const shown = allowed.length > 0 ? allowed : [installationOwnership];
  const names = await readNames(visit.em, { teams: shown.map(({ teamId }) => teamId) });
  return shown.map(({ teamId }) =>
    teamId === null
      ? { value: '', label: 'The whole installation' }
      : { value: teamId, label: names.get(teamId)?.name ?? teamId },
  );
}
