import { get as getEnvironment } from '#api/environments/operations.ts';
import { environmentCrumbs } from '#api/tenancy/pages/views.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { toUtc } from '#api/web/forms/read-form.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
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

const environmentForm = formsAbout({
  read: (visit: Visit<{ id: string }>) => visit.read(getEnvironment, { params: visit.params }),
  crumbs: (environment) => environmentCrumbs(environment),
  path: ({ id }) => pagePath(pages.environment, { id }),
});

/** The forms that lock and unlock an environment. */
export const lockForms = [
  environmentForm(pages.lockEnvironment, 'lock', {
    describe: (environment) => ({
      title: `Lock ${environment.name}`,
      lead: 'Its runs can still plan and wait for review, but no apply starts. Applies that are running are not interrupted.',
      fields: [...holdFields, { ...revisionField(environment), isOptional: true }],
      submit: 'Lock',
    }),
    carryOut: async ({ id }, { reason, until = '' }, visit) => {
      await visit.run(lock, { params: { id }, body: { reason, until: toUtc(until) } });
      return pagePath(pages.environment, { id }, { done: 'locked' });
    },
  }),
  environmentForm(pages.unlockEnvironment, 'unlock', {
    describe: ({ name, lock: held }) => ({
      title: `Unlock ${name}`,
      lead: html`${held ? html`<p>${held.by.name} locked it: <span class="foreign">${held.reason}</span></p>` : null}
<p>Waiting applies start immediately.</p>`,
      submit: 'Unlock',
      tone: 'danger',
    }),
    carryOut: async ({ id }, _typed, visit) => {
      await visit.run(unlock, { params: { id } });
      return pagePath(pages.environment, { id }, { done: 'unlocked' });
    },
  }),
];
