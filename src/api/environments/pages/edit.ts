import { list as listProjects } from '#api/projects/operations.ts';
import { keepAllowed } from '#api/tenancy/pages/allowed-owners.ts';
import { environmentCrumbs, environmentsCrumb } from '#api/tenancy/pages/views.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import { yesIf } from '#api/web/forms/fields/yes.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toolFields, toolValues } from '#api/workers/tool-fields.ts';
import type { Em } from '#database/database.ts';
import { allowedOptions, runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import { findOfferedTools, type OfferedTool } from '#domain/workers/offered-tools.ts';
import { create, get, update } from '../operations.ts';
import {
  moreFields,
  nameAndKind,
  optionFields,
  policyFields,
  shownRule,
  slugField,
  toAllowedOptions,
  toRules,
} from './environment-fields.ts';
import type { Environment } from './labels.ts';
import { mayCreateIn } from './list.ts';

const ofTemplates = 'As its templates say';

const offeredIn = (em: Em, { id, team_id: teamId }: Environment) => findOfferedTools(em, { teamId, environmentId: id });

/** The fields of an environment that exists, with its values. */
function fieldsOf(environment: Environment, offered: readonly OfferedTool[]): FormField[] {
  const {
    name,
    slug,
    kind,
    approval_policy: policy,
    ttl,
    isolation,
    allowed_options: options,
    plan_secrets: planSecrets,
  } = environment;
  const allowed = allowedOptions({ kind, allowedOptions: options });
  const values: Readonly<Record<string, string>> = {
    name,
    slug,
    kind,
    'approval_policy.required': String(policy.required),
    'approval_policy.when': shownRule(policy),
    'approval_policy.allow_self': yesIf(policy.allow_self),
    ttl: ttl ?? '',
    isolation: isolation ?? '',
    plan_secrets: planSecrets ?? '',
    ...toolValues(environment.tool),
    ...Object.fromEntries(runOptionNames.map((each) => [`allowed_options.${each}`, yesIf(allowed.includes(each))])),
  };
  const fields = [
    ...nameAndKind,
    slugField,
    ...policyFields(policy.when),
    ...moreFields,
    ...toolFields(offered, ofTemplates),
    ...optionFields,
  ];
  return [...fields.map((field) => ({ ...field, value: values[field.name] })), revisionField(environment)];
}

/** The forms that make and change environments. */
export const environmentForms = [
  formPage(pages.newEnvironment, {
    read: (visit) => visit.read(listProjects, { query: { limit: '200' } }),
    describe: async ({ projects, next_cursor: next }, visit) => ({
      title: 'New environment',
      crumbs: [environmentsCrumb],
      fields: [
        {
          name: 'project_id',
          label: 'Project',
          kind: 'select',
          ...(await choicesOf(visit.em, { things: await keepAllowed(visit, create, projects), next, kind: 'project' })),
          value: visit.query('project_id'),
        },
        ...nameAndKind,
        ...policyFields(null),
        ...moreFields,
        ...toolFields(await findOfferedTools(visit.em, { teamId: null, environmentId: null }), ofTemplates),
      ],
      submit: 'Create',
      cancel: pagePath(pages.environments),
      refusal: (await mayCreateIn(visit, visit.query('project_id'))).reason,
    }),
    carryOut: async (_subject, typed, visit) => {
      const { project_id, name = '', kind } = typed;
      const body = { project_id, name: name.trim(), kind, ...toRules(visit, typed, { isNew: true }) };
      const { id } = await visit.run(create, { body });
      return pagePath(pages.environment, { id }, { done: 'created' });
    },
  }),
  formPage(pages.editEnvironment, {
    read: (visit) => visit.read(get, { params: visit.params }),
    describe: async (environment, visit) => ({
      title: `Edit ${environment.name}`,
      crumbs: environmentCrumbs(environment),
      fields: fieldsOf(environment, await offeredIn(visit.em, environment)),
      submit: 'Save',
      cancel: pagePath(pages.environment, { id: environment.id }),
      refusal: refusalOf(environment.actions, 'update'),
    }),
    carryOut: async ({ id }, typed, visit) => {
      const { name = '', slug, kind } = typed;
      const body = {
        name: name.trim(),
        slug,
        kind,
        ...toRules(visit, typed),
        allowed_options: toAllowedOptions(typed),
      };
      await visit.run(update, { params: { id }, body });
      return pagePath(pages.environment, { id }, { done: 'saved' });
    },
  }),
];
