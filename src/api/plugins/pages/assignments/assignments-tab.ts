import { renderEmpty, renderPages } from '#api/web/components/table.ts';
import { renderFormField } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { findActionByName } from '#domain/plugins/assignments/action-store.ts';
import { list } from '../../grant-operations.ts';
import type { PluginVisit, ShownPlugin } from '../views.ts';
import { renderAnswer } from './answer.ts';
import { type ActionChoices, readActionChoices, renderAsked } from './fields.ts';
import { assignmentsPath, type GrantFilters, readFilters, renderFilters, toQuery } from './filters.ts';
import { answer, readQuestion } from './question.ts';
import { renderGrants } from './table.ts';

/** Answers who may do what, and why not: by a question about anybody, and by a list of all assignments. */
export async function renderAssignments(visit: PluginVisit, plugin: ShownPlugin): Promise<Html> {
  const actions = await readActionChoices(visit, plugin.id);
  const filters = readFilters(visit);
  const question = readQuestion(visit);
  return html`<p class="muted">Roles do not include actions of plugins. Each action is assigned for one place and everything in it. An assignment that has ended cannot be restored.</p>
<section class="stack" aria-labelledby="ask"><h2 id="ask">Check access</h2>
${renderQuestion(visit, plugin, actions)}
${question && (await renderAnswer(visit, plugin, { question, answer: await answer(visit, plugin, question) }))}</section>
<section class="stack" aria-labelledby="assignments"><h2 id="assignments">Assignments</h2>
${renderFilters(plugin, filters, actions)}
${await renderList(visit, plugin, filters)}</section>`;
}

function renderQuestion(visit: PluginVisit, { id }: ShownPlugin, actions: ActionChoices): Html {
  const form = 'ask';
  return html`<p class="muted">Name people by their name, e-mail address or id, and places by their name or id. Without a name, you ask about yourself. You may ask about others where you may assign actions.</p>
<form class="filters" method="get" action="${pagePath(pages.plugin, { id })}" aria-label="Question">
<input type="hidden" name="tab" value="assignments">
${renderAsked({ form, name: 'who', label: 'May', value: visit.query('who') })}
${renderFormField({ form, name: 'what', label: 'use the action', kind: 'select', choices: actions.choices, isCut: actions.isCut, value: visit.query('what') })}
${renderAsked({ form, name: 'where', label: 'at the place', value: visit.query('where'), isRequired: true })}
<button class="button button-primary" type="submit">Ask</button>
</form>`;
}

async function renderList(visit: PluginVisit, { id }: ShownPlugin, filters: GrantFilters): Promise<Html> {
  const cursor = visit.query('cursor');
  const action = filters.action === undefined ? undefined : await findActionByName(visit.em, id, filters.action);
  if (filters.action !== undefined && !action) return renderNothing(filters);
  const query = { installation_id: id, cursor, ...toQuery(filters, action?.id) };
  const { grants, next_cursor: next } = await visit.read(list, { query });
  return html`${grants.length > 0 ? await renderGrants(visit, 'Assignments, newest first', grants) : renderNothing(filters)}
${renderPages({ cursor, next }, (page) => assignmentsPath(id, { ...filters, ...page }))}`;
}

function renderNothing(filters: GrantFilters): Html {
  return html`<div class="list-panel">${
    Object.keys(filters).length > 0
      ? renderEmpty('No matching assignments', 'No assignment that you can see matches these filters.')
      : renderEmpty(
          'No assignments that you can see',
          'People who manage the members of a place can assign actions there, with the API.',
        )
  }</div>`;
}
