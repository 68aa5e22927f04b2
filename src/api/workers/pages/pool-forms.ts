import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, requireAuthority } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { create, deleteWorkerPool, get } from '../pool-operations.ts';
import { workersCrumb } from './labels.ts';
import { readRuleFields, toRules } from './pool-fields.ts';

/** The forms that make and delete pools. */
export const poolForms = [
  formPage(pages.newWorkerPool, {
    read: async () => null,
    describe: async (_subject, visit) => ({
      title: 'New pool',
      crumbs: [workersCrumb],
      below: 'Workers serve a pool by its name, in WORKER_POOLS.',
      fields: [{ name: 'name', label: 'Name' }, ...(await readRuleFields(visit))],
      submit: 'Create pool',
      cancel: pagePath(pages.workers),
      refusal: visit.mayDo(create).reason,
    }),
    carryOut: async (_subject, typed, visit) => {
      requireAuthority(visit, create);
      const rules = await toRules(visit, typed);
      await visit.run(create, { body: { name: typed['name']?.trim() ?? '', ...rules } });
      return pagePath(pages.workers, {}, { done: 'pool-created' });
    },
  }),
  formPage(pages.deleteWorkerPool, {
    read: (visit) => visit.read(get, { params: visit.params }),
    describe: ({ name, actions }) => ({
      title: `Delete the pool ${name}`,
      crumbs: [workersCrumb, { label: name, path: pagePath(pages.workerPool, { name }) }],
      lead: 'The pool and its rules are deleted. You can delete it only if no run, template version or worker needs it.',
      fields: [],
      submit: 'Delete',
      tone: 'danger',
      cancel: pagePath(pages.workerPool, { name }),
      refusal: refusalOf(actions, 'delete'),
    }),
    carryOut: async ({ name }, _typed, visit) => {
      await visit.run(deleteWorkerPool, { params: { name } });
      return pagePath(pages.workers, {}, { done: 'pool-deleted' });
    },
  }),
];
