import type { FastifyReply } from 'fastify';
import { operationPath } from '#api/pipeline/answers/location.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { get } from '../operations.ts';
import { forgetState, importState } from '../state-operations.ts';
import type { InstanceVisit } from './table.ts';

/** Shows how to import a state, or asks whether to undo an import. */
export async function showStateImport(visit: InstanceVisit): Promise<FastifyReply> {
  if (visit.query('undo') !== undefined) return askToForget(visit, null);
  const { name } = await visit.read(get, { params: visit.params });
  const address = operationPath(importState, visit.params);
  const title = `Import a state into ${name}`;
  return visit.show({
    title,
    scripts: ['upload.js'],
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: crumbsOf(visit.params.id, name) })}
<div class="panel stack">
<p>The state is stored byte for byte, and the next run continues from it. The instance must have none. Up to 64 MiB.</p>
<form class="form" data-upload="${address}" data-then="${pagePath(pages.instance, visit.params, { tab: 'states', done: 'imported' })}" hidden>
<p class="notice notice-problem" role="alert" hidden data-upload-problem></p>
<div class="field"><label for="state">State file</label><input id="state" type="file" accept=".json,.tfstate,application/json" required><p class="field-hint">Such as terraform.tfstate, or what <code>tofu state pull</code> writes.</p></div>
<div class="form-end"><button class="button button-primary" type="submit">Import</button></div>
</form>
<h2>By command</h2>
<pre class="value">tofu state pull | curl --fail-with-body -X POST --data-binary @- \\
  -H 'Content-Type: application/json' -H "X-API-Key: $COORDINATOR_API_KEY" \\
  $COORDINATOR_URL${address}</pre>
</div></div>`,
  });
}

function crumbsOf(id: string, name: string) {
  return [
    { label: 'Instances', path: pagePath(pages.instances) },
    { label: name, path: pagePath(pages.instance, { id }) },
  ];
}

async function askToForget(visit: InstanceVisit, problems: FormProblems | null): Promise<FastifyReply> {
  const { name } = await visit.read(get, { params: visit.params });
  const page = confirmationPage({
    title: `Undo the import into ${name}`,
    crumbs: crumbsOf(visit.params.id, name),
    consequences:
      'The instance holds nothing again, and nothing is destroyed. The state version stays in the history. This works as long as no run has applied to the instance.',
    verb: 'Undo the import',
    fields: [],
    action: pagePath(pages.importState, visit.params),
    cancel: pagePath(pages.instance, visit.params),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitForgetting(visit: InstanceVisit): Promise<FastifyReply> {
  visit.form();
  const result = await submit(visit, [], () => visit.run(forgetState, { params: visit.params }));
  if (!result.done) return askToForget(visit, result.problems);
  return visit.redirect(pagePath(pages.instance, visit.params, { done: 'forgotten' }));
}
