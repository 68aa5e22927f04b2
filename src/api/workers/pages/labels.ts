import type { Crumb } from '#api/web/components/page-head.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { pagePath, pages } from '#api/web/paths.ts';

export const workersCrumb: Crumb = { label: 'Workers', path: pagePath(pages.workers) };

/** The workers that the runs of an environment or a pool may use. */
export const isolationField: FormField = {
  name: 'isolation',
  label: 'Workers',
  kind: 'select',
  choices: [
    { value: '', label: 'Runs use any worker' },
    { value: 'sandbox', label: 'Runs use only workers with a sandbox' },
  ],
};
