import type { FastifyReply } from 'fastify';
import type { InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { operationPath } from '#api/pipeline/answers/location.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { page } from '#api/web/declarations/area.ts';
import { refusedPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import type { ErrorCode } from '#domain/error-codes.ts';
import { maxImportBytes } from '#domain/instances/state/state-import.ts';
import { forgetState, importState } from '../state-operations.ts';
import {
  despiteDependents,
  instanceCrumbs,
  instanceForm,
  isDespiteDependents,
  readInstance,
  readWithDependents,
} from './forms.ts';

/** Texts for refusals whose messages use API terms, by code. */
const refusals = {
  unauthenticated: 'Your session has ended. Sign in again, and import the file once more.',
  permission_denied: 'You may no longer import a state into this instance.',
  not_found: 'This instance does not exist any more, or you may no longer see it.',
  too_large: `The file is larger than ${maxImportBytes / 1024 / 1024} MiB.`,
  concurrent_change: 'Somebody else changed this instance at the same time. Import the file once more.',
  internal_error: 'Something went wrong in the service. Look at the instance before you try again.',
  unavailable: 'The service is temporarily unavailable. Look at the instance before you try again.',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** Shows how to import a state. */
async function showStateImport(visit: InstanceVisit): Promise<FastifyReply> {
  const { id, name, actions } = await readInstance(visit);
  const address = operationPath(importState, visit.params);
  const title = `Import a state into ${name}`;
  const refusal = refusalOf(actions, 'import_state');
  const crumbs = instanceCrumbs(id, name);
  if (refusal !== null)
    return visit.show(refusedPage({ title, crumbs, cancel: pagePath(pages.instance, { id }), refusal }));
  return visit.show({
    title,
    scripts: ['upload.js'],
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs })}
<div class="panel stack">
<p>The state is stored byte for byte, and the next run continues from it. The instance must have none. Up to 64 MiB.</p>
<form class="form" data-upload="${address}" data-max-bytes="${maxImportBytes}" data-words="${JSON.stringify(refusals)}" data-then="${pagePath(pages.instance, visit.params, { tab: 'states', done: 'imported' })}" hidden>
<p class="notice notice-problem" role="alert" hidden data-upload-problem></p>
<div class="field"><label for="state">State file</label><input id="state" type="file" accept=".json,.tfstate,application/json" required aria-describedby="state-hint"><p class="field-hint" id="state-hint">Such as terraform.tfstate, or what <code>tofu state pull</code> writes.</p><p class="field-problem" id="state-problem" role="alert" hidden>${renderIcon('octagon-x')}<span></span></p></div>
<div class="form-end"><button class="button button-primary" type="submit">Import</button></div>
</form>
<h2>By command</h2>
<pre class="value">tofu state pull | curl --fail-with-body -X POST --data-binary @- \\
  -H 'Content-Type: application/json' -H "X-API-Key: $COORDINATOR_API_KEY" \\
  $COORDINATOR_URL${address}</pre>
</div></div>`,
  });
}

/** The page that imports a state, and the form that undoes an import. */
export const stateImportPages = [
  page('GET', pages.importState, showStateImport),
  instanceForm(pages.forgetState, 'forget_state', {
    read: readWithDependents,
    describe: ({ name, isRead, state_serial: serial, resource_count: resources }) => ({
      title: `Undo the import into ${name}`,
      lead: `${serial === 0 ? '' : `State version #${serial} lists ${pluralize(resources, 'resource')}. `}The service no longer manages what was imported, and nothing is destroyed. The state version stays in the history. You can undo an import until a run has applied to the instance.`,
      fields: isRead ? [despiteDependents('undo it')] : [],
      submit: 'Undo the import',
      tone: 'danger',
    }),
    carryOut: async ({ id }, typed, visit) => {
      await visit.run(forgetState, { params: { id }, body: { despite_dependents: isDespiteDependents(typed) } });
      return pagePath(pages.instance, { id }, { done: 'forgotten' });
    },
  }),
];
