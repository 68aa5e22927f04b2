import { list as listEnvironments } from '#api/environments/operations.ts';
import { behindProjects } from '#api/tenancy/pages/environment-choices.ts';
import { findChosenOwner, readOwnerChoices } from '#api/tenancy/pages/owner-list.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { nameChoices } from '#api/web/forms/fields/named-things.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationId, kindsOf, type QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { clear, get, recount, set } from '../operations.ts';
import { type ListedQuota, nameOwner, quotaPath, showAmount, type Usage } from './labels.ts';
import { findLimitProblems, limitField, toLimits } from './limit-fields.ts';
import { crumbs, paramsOf, type QuotaVisit } from './quota-page.ts';

/**
 * The field in which a visitor chooses the owner of a new quota by name. It offers a limited number of owners, and accepts the id of any
 * other.
 */
async function quotaOwnerField(visit: Visit): Promise<FormField> {
  const [{ organizations, teams, isCut }, { environments, next_cursor: next }] = await Promise.all([
    readOwnerChoices(visit),
    visit.read(listEnvironments, { query: { limit: '200' } }),
  ]);
  const places = await behindProjects(visit, environments);
  return {
    name: 'owner',
    label: 'Owner',
    kind: 'select',
    value: visit.query('owner'),
    choices: [
      { value: installationId, label: 'Installation' },
      ...organizations,
      ...teams,
      ...(await nameChoices(
        visit.em,
        places.map((place) => ({ ...place, before: 'Environment ' })),
      )),
    ],
    isCut: isCut || next !== null,
    choiceKinds: ['organization', 'team', 'environment'],
  };
}

const scopes = { organizations: 'organization', teams: 'team', environments: 'environment' } as const;

/** The scope and the id of the chosen owner. If none was chosen, returns null and adds a problem to the visit. */
async function toQuotaParams(visit: Visit, typed: Typed): Promise<QuotaSubject | null> {
  if (typed['owner']?.trim() === installationId) return { scope: 'installation', id: installationId };
  const owner = await findChosenOwner(visit, typed, ['teams', 'environments']);
  return owner && { scope: scopes[owner.kind], id: owner.id };
}

/** The hint for empty limits. A quota without limits is valid: it exempts an organization or a team from the default quotas. */
function emptyHint({ scope }: Pick<ListedQuota, 'scope'>): string {
  if (scope !== 'organization' && scope !== 'team') return 'If all fields are empty, the quota limits nothing.';
  return `If all fields are empty, the quota exempts the ${scope} from the default quotas of the settings.`;
}

const quotaForm = formsAbout({
  read: (visit: QuotaVisit) => visit.read(get, { params: paramsOf(visit) }),
  crumbs: (quota) => [...crumbs, { label: nameOwner(quota), path: quotaPath(quota) }],
  path: quotaPath,
});

const newQuotaForm = formPage(pages.newQuota, {
  read: async () => null,
  describe: async (_subject, visit) => ({
    title: 'New quota',
    crumbs,
    below:
      'Leave a field empty for no limit. 0 allows nothing. The quota of an organization or a team replaces the default quotas in the settings.',
    fields: [await quotaOwnerField(visit), ...kindsOf('installation').map((kind) => limitField('limits', kind))],
    submit: 'Save limits',
    cancel: pagePath(pages.quotas),
    refusal: visit.mayDo(set).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const limits = toLimits('limits', typed);
    visit.problems.push(...findLimitProblems('limits', typed));
    if (Object.keys(limits).length === 0) visit.problems.push(noLimit);
    const params = await toQuotaParams(visit, typed);
    if (params === null) return pagePath(pages.quotas);
    const { revision } = await visit.read(get, { params });
    // The form does not show the existing limits, so it must not replace them.
    if (revision !== null) visit.addProblem('owner', 'it already has a quota: change it on its page');
    await visit.run(set, { params, body: { limits } });
    return pagePath(pages.quota, { scope: params.scope, ownerID: params.id }, { done: 'saved' });
  },
});

const noLimit = { in: 'body', path: '', message: 'fill in at least one limit' } as const;

const editQuotaForm = quotaForm(pages.editQuota, 'set', {
  describe: (quota) => ({
    title: `Limits: ${nameOwner(quota)}`,
    below: `Leave a field empty for no limit. 0 allows nothing. A limit may be lower than the current use: nothing more is allowed then. ${emptyHint(quota)}`,
    fields: [
      ...quota.usage.map(usedLimitField),
      // Revision 0 means that the owner must not have a quota yet.
      { ...revisionField({ revision: quota.revision ?? 0 }), isOptional: true },
    ],
    submit: 'Save limits',
  }),
  carryOut: async ({ scope, id }, typed, visit) => {
    visit.problems.push(...findLimitProblems('limits', typed));
    await visit.run(set, { params: { scope, id }, body: { limits: toLimits('limits', typed) } });
    return pagePath(pages.quota, { scope, ownerID: id }, { done: 'saved' });
  },
});

const recountForm = quotaForm(pages.recountQuota, 'recount', {
  describe: (quota) => ({
    title: `Recount: ${nameOwner(quota)}`,
    lead: 'Counts the bytes of states and logs again. Meanwhile, runs of this owner wait before they start or finish.',
    submit: 'Recount',
  }),
  carryOut: async ({ scope, id }, _typed, visit) => {
    await visit.run(recount, { params: { scope, id } });
    return pagePath(pages.quota, { scope, ownerID: id }, { done: 'recounted' });
  },
});

const clearForm = quotaForm(pages.clearQuota, 'clear', {
  describe: (quota) => ({
    title: `Remove the quota: ${nameOwner(quota)}`,
    lead: 'Its limits no longer apply, and runs that wait for it start. Quotas of other owners are not changed.',
    fields: quota.revision === null ? [] : [{ ...revisionField({ revision: quota.revision }), isOptional: true }],
    submit: 'Remove',
    tone: 'danger',
  }),
  carryOut: async ({ scope, id }, _typed, visit) => {
    await visit.run(clear, { params: { scope, id } });
    return pagePath(pages.quotas, {}, { done: 'cleared' });
  },
});

function usedLimitField({ kind, limit, used }: Usage): FormField {
  return limitField('limits', kind, limit, used === null ? '' : ` Used: ${showAmount(kind, used)}.`);
}

/** The forms that set, recount and remove quotas. */
export const quotaForms = [newQuotaForm, editQuotaForm, recountForm, clearForm];
