import { get as getEnvironment } from '#api/environments/operations.ts';
import { environmentCrumbs } from '#api/tenancy/pages/views.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { toUtc } from '#api/web/forms/read-form.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { lock, unlock } from '../environment-operations.ts';

/** The fields of a lock or a pause. */
export const holdFields = [
  { name: 'reason', label: 'Reason', kind: 'area', hint: 'Shown to everybody whose run is waiting.' },
  {
    name: 'until',
    label: 'Until (UTC)',
    kind: 'datetime',
    isOptional: true,
    hint: 'Leave empty to keep it until it is ended.',
  },
] as const;

const readEnvironment = (visit: Visit<{ id: string }>) => visit.read(getEnvironment, { params: visit.params });

/** The forms that lock and unlock an environment. */
export const lockForms = [
  formPage(pages.lockEnvironment, {
    read: readEnvironment,
    describe: (environment) => ({
      title: `Lock ${environment.name}`,
      crumbs: environmentCrumbs(environment),
      lead: 'Its runs can still plan and wait for review, but no apply starts. Applies that are running are not interrupted.',
      fields: [...holdFields, { ...revisionField(environment), isOptional: true }],
      submit: 'Lock',
      cancel: pagePath(pages.environment, { id: environment.id }),
      refusal: refusalOf(environment.actions, 'lock'),
    }),
    carryOut: async ({ id }, { reason, until = '' }, visit) => {
      await visit.run(lock, { params: { id }, body: { reason, until: toUtc(until) } });
      return pagePath(pages.environment, { id }, { done: 'locked' });
    },
  }),
  formPage(pages.unlockEnvironment, {
    read: readEnvironment,
    describe: ({ id, name, lock: held, actions }) => ({
      title: `Unlock ${name}`,
      crumbs: environmentCrumbs({ id, name }),
      lead: html`${held ? html`<p>${held.by.name} locked it: <span class="foreign">${held.reason}</span></p>` : null}
<p>Waiting applies start immediately.</p>`,
      fields: [],
      submit: 'Unlock',
      tone: 'danger',
      cancel: pagePath(pages.environment, { id }),
      refusal: refusalOf(actions, 'unlock'),
    }),
    carryOut: async ({ id }, _typed, visit) => {
      await visit.run(unlock, { params: { id } });
      return pagePath(pages.environment, { id }, { done: 'unlocked' });
    },
  }),
];
