import { create as createEnvironment, get, update } from '#api/environments/operations.ts';
import { nameAndKind, policyFields, shownRule, toRules } from '#api/environments/pages/environment-fields.ts';
import { describePolicy, type EnvironmentDetails } from '#api/environments/pages/labels.ts';
import { create as createProject } from '#api/projects/operations.ts';
import { listOfEnvironment as listReviewers } from '#api/runs/approvals/reviewer-operations.ts';
import { renderShortage } from '#api/runs/pages/reviewers/labels.ts';
import { type TeamVisit, teamParams } from '#api/teams/pages/team-frame.ts';
import { nameFields } from '#api/tenancy/pages/named-forms.ts';
import { yesIf } from '#api/web/forms/fields/yes.ts';
import { type FormPage, formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { placeName, readSetup, type Setup, stepPath } from './setup.ts';
import { describeStep, renderMade } from './steps-view.ts';

type Linked = typeof pages.project | typeof pages.environment;

function linkTo(page: Linked) {
  return ({ id, name }: { readonly id: string; readonly name: string }): Html =>
    html`<a class="foreign" href="${pagePath(page, { id })}">${name}</a>`;
}

function describeEnvironmentStep(setup: Setup, visit: TeamVisit): FormPage {
  const { team, projects, environments } = setup;
  const isMissing = projects.length === 0;
  const owner = { teamId: team.id, organizationId: team.organization_id };
  return {
    ...describeStep(
      setup,
      'environment',
      renderMade(
        'Environments',
        environments.map((each) => linkTo(pages.environment)({ id: each.id, name: placeName(setup, each) })),
      ),
    ),
    ...(isMissing && { cancel: stepPath(setup, 'project') }),
    confirmations: pages.setUpTeamEnvironment,
    fields: [
      {
        name: 'project_id',
        label: 'Project',
        kind: 'select',
        choices: projects.map(({ id, name }) => ({ value: id, label: name })),
        // The newest project is probably the one that the visitor has just created.
        value: projects[0]?.id,
      },
      ...nameAndKind,
    ],
    submit: 'Create environment',
    refusal: isMissing
      ? 'an environment belongs to a project: create one first'
      : visit.mayDo(createEnvironment, owner).reason,
  };
}

interface PolicySubject extends Setup {
  /** The environment whose policy is set: that of the address, or the newest one; null if there is none yet. */
  readonly environment: EnvironmentDetails | null;
}

async function readPolicy(visit: TeamVisit): Promise<PolicySubject> {
  const setup = await readSetup(visit);
  const id = visit.query('environment_id') ?? setup.environments[0]?.id;
  const environment = id === undefined ? null : await visit.read(get, { params: { id } });
  if (environment !== null && environment.team_id !== setup.team.id) throw new NotFound('environment');
  return { ...setup, environment };
}

const policyStepForm = formPage(pages.setUpTeamPolicy, {
  read: readPolicy,
  describe: async (subject, visit) => ({
    ...describeStep(subject, 'policy', await describeEnvironments(subject, visit)),
    ...(subject.environment === null && { cancel: stepPath(subject, 'environment') }),
    confirmations: pages.setUpTeamPolicy,
    fields: subject.environment ? fieldsOf(subject.environment) : [],
    submit: 'Save',
    refusal: subject.environment
      ? refusalOf(subject.environment.actions, 'update')
      : 'an approval policy belongs to an environment: create one first',
  }),
  carryOut: async (subject, typed, visit) => {
    const path = policyPath(subject, typed['environment_id'], 'saved');
    if (subject.environment === null) return path;
    const { approval_policy } = toRules(visit, typed);
    await visit.run(update, { params: { id: typed['environment_id'] ?? '' }, body: { approval_policy } });
    return path;
  },
});

function policyPath({ team }: Setup, id: string | undefined, done?: 'saved'): LocalPath {
  return pagePath(pages.setUpTeamPolicy, teamParams(team), { environment_id: id, done });
}

function fieldsOf(environment: EnvironmentDetails) {
  const { required, allow_self: allowSelf } = environment.approval_policy;
  const when = shownRule(environment.approval_policy);
  const values: Readonly<Record<string, string>> = {
    'approval_policy.when': when,
    'approval_policy.required': String(required),
    'approval_policy.allow_self': yesIf(allowSelf),
  };
  return [
    ...policyFields(when).map((field) => ({ ...field, value: values[field.name] })),
    revisionField(environment),
    // The newest environment may be another one when the form is sent.
    { name: 'environment_id', label: 'Environment', kind: 'hidden', value: environment.id } as const,
  ];
}

/** The current policy of the environment, and links to those of the others. */
async function describeEnvironments(subject: PolicySubject, visit: TeamVisit): Promise<Html | null> {
  const { environment, environments } = subject;
  if (environment === null) return null;
  const { id, approval_policy: policy } = environment;
  const reviewers = await visit.read(listReviewers, { params: { id } });
  const others = environments.filter((each) => each.id !== id);
  return html`<p>Now in <span class="foreign">${placeName(subject, environment)}</span>: ${describePolicy(policy)} <a href="${pagePath(pages.environmentReviewers, { id })}">Who can approve</a></p>
${renderShortage(reviewers, 'environment')}
${renderMade(
  'Other environments',
  others.map((each) => html`<a class="foreign" href="${policyPath(subject, each.id)}">${placeName(subject, each)}</a>`),
)}`;
}

/** The steps that create a project and an environment in it, and set its approval policy. */
export const placeSteps = [
  formPage(pages.setUpTeamProject, {
    read: readSetup,
    describe: (setup) => ({
      ...describeStep(setup, 'project', renderMade('Projects', setup.projects.map(linkTo(pages.project)))),
      fields: nameFields(),
      submit: 'Create project',
      refusal: refusalOf(setup.team.actions, 'create_project'),
    }),
    carryOut: async ({ team }, typed, visit) => {
      await visit.run(createProject, { body: { ...toBody(typed), team_id: team.id } });
      return pagePath(pages.setUpTeamEnvironment, teamParams(team), { done: 'project-created' });
    },
  }),
  formPage(pages.setUpTeamEnvironment, {
    read: readSetup,
    describe: describeEnvironmentStep,
    carryOut: async ({ team }, { project_id, name = '', kind }, visit) => {
      const { id } = await visit.run(createEnvironment, { body: { project_id, name: name.trim(), kind } });
      const query = { environment_id: id, done: 'environment-created' } as const;
      return pagePath(pages.setUpTeamPolicy, teamParams(team), query);
    },
  }),
  policyStepForm,
];
